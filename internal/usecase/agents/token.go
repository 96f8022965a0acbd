package agents

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Token is what is known about a token. Its text is shown once, when it is made.
type Token struct {
	ID   string        `json:"id"`
	Role identity.Role `json:"role"`
	Name string        `json:"name"`
	// Workspace is where the token counts. It sees nothing of any other.
	Workspace string    `json:"workspace"`
	Label     string    `json:"label,omitempty"`
	Person    string    `json:"person,omitempty"`
	By        string    `json:"created_by"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires,omitzero"`
	Revoked   time.Time `json:"revoked,omitzero"`
	Text      string    `json:"token,omitempty"`
}

// TokenInput makes a token.
type TokenInput struct {
	Role      identity.Role `json:"role"`
	Name      string        `json:"name" doc:"Of the agent or person that it speaks for."`
	Label     string        `json:"label,omitempty" doc:"What it is for."`
	Person    string        `json:"person,omitempty" doc:"Of an agent's token: the person at its client, by name. What the client says that this person answers, approves or denies is on record as that operator's."`
	Workspace string        `json:"workspace,omitempty" doc:"Where it counts; your own if left out. Admins of the workspace default may name another, which then exists."`
	Expires   time.Time     `json:"expires,omitzero" doc:"Left out: never."`
}

// CreateToken makes a token. An agent's token needs a registered agent. Repeating it under one key gives the token's
// id but not its text, which exists only in the first answer.
func (r *Roster) CreateToken(ctx context.Context, c caller.Caller, in TokenInput) (Token, error) {
	t, err := r.createToken(ctx, c, in)
	if err != nil {
		return Token{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "create-token", in.Name, err)
	}
	return t, nil
}

func (r *Roster) createToken(ctx context.Context, c caller.Caller, in TokenInput) (Token, error) {
	if err := c.May(identity.ManageTokens, "create a token"); err != nil {
		return Token{}, err
	}
	if in.Workspace == "" {
		in.Workspace = c.Workspace
	}
	if in.Workspace != c.Workspace && c.Workspace != identity.DefaultWorkspace {
		return Token{}, refusal.New(refusal.NotPermitted, "use an admin's token of the workspace "+identity.DefaultWorkspace,
			"%s may make tokens for workspace %s alone", c.Principal, c.Workspace)
	}
	if err := event.CheckName("the workspace's name", in.Workspace); err != nil {
		return Token{}, err
	}
	if in.Role == identity.Agent {
		if err := event.CheckName("the agent's name", in.Name); err != nil {
			return Token{}, err
		}
		f, err := r.agents.Load(ctx, agentStream(in.Workspace, in.Name), true)
		if err != nil {
			return Token{}, err
		}
		if !f.State.Exists() {
			return Token{}, refusal.New(refusal.NotFound, "add the agent first", "there is no agent %.80q", in.Name)
		}
	}
	request, err := c.Digest("create-token", in)
	if err != nil {
		return Token{}, err
	}
	var random [identity.RandomBytes]byte
	if err := r.Random(random[:]); err != nil {
		return Token{}, err
	}
	if key := c.DigestKey(); key != "" { // the id, which comes first, follows from the key: a repeat finds the token
		sum := sha256.Sum256([]byte("token\x00" + key))
		copy(random[:identity.IDBytes], sum[:])
	}
	m := identity.Mint(random)
	cmd := identity.Create{
		ID: m.ID, Hash: m.Hash, Label: in.Label, Person: in.Person, ExpiresAt: in.Expires, By: c.String(),
		Principal: identity.Principal{Workspace: in.Workspace, Role: in.Role, Name: in.Name},
	}
	out, err := r.changeToken(ctx, c, cmd.ID, request, cmd)
	if err != nil {
		return Token{}, err
	}
	t := tokenOf(*out.State)
	if !out.Repeat {
		t.Text = m.Text
	}
	return t, nil
}

// Bootstrap makes the first admin token of a workspace and returns its text. The server calls it when it starts on
// an empty data directory, or when the file that held the token is gone.
func (r *Roster) Bootstrap(ctx context.Context, workspace string) (string, error) {
	t, err := r.createToken(ctx, caller.System(workspace, "server"), TokenInput{Role: identity.Admin, Name: "local", Label: "made by serve for this machine"})
	return t.Text, err
}

// RevokeToken ends a token for good.
func (r *Roster) RevokeToken(ctx context.Context, c caller.Caller, id string) (Token, error) {
	err := c.May(identity.ManageTokens, "revoke a token")
	var out stream.Outcome[identity.State]
	if err == nil {
		out, err = r.revoke(ctx, c, id)
	}
	if err != nil {
		return Token{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "revoke-token", id, err)
	}
	return tokenOf(*out.State), nil
}

// revoke ends a token of the caller's workspace; admins of the default workspace may end any.
func (r *Roster) revoke(ctx context.Context, c caller.Caller, id string) (stream.Outcome[identity.State], error) {
	f, err := r.tokens.Load(ctx, tokenStream(id), true)
	if err != nil {
		return stream.Outcome[identity.State]{}, err
	}
	if f.State.Exists() && !governs(c, f.State) {
		return stream.Outcome[identity.State]{}, refusal.New(refusal.NotFound, "list the tokens to see which there are", "there is no token %.40q", id)
	}
	return r.changeToken(ctx, c, id, "", identity.Revoke{ID: id, By: c.String()})
}

// governs reports whether a token is of the caller's workspace, or the caller of the default one.
func governs(c caller.Caller, t identity.State) bool {
	return c.Workspace == identity.DefaultWorkspace || t.Principal.Workspace == c.Workspace
}

func (r *Roster) changeToken(ctx context.Context, c caller.Caller, id, request string, cmd identity.Command) (stream.Outcome[identity.State], error) {
	if err := identity.CheckID(id); err != nil {
		return stream.Outcome[identity.State]{}, err
	}
	return r.tokens.Do(ctx, c.Write(request), tokenStream(id), func(s identity.State, now time.Time) ([]identity.Event, error) {
		return identity.Decide(s, cmd, now)
	})
}

// Tokens lists the workspace's tokens, revoked ones too; in the default workspace, everybody's.
func (r *Roster) Tokens(ctx context.Context, c caller.Caller) ([]Token, error) {
	if err := c.May(identity.ManageTokens, "list tokens"); err != nil {
		return nil, r.access.Refused(ctx, c.Workspace, c.Actor(), "list-tokens", "", err)
	}
	states, err := r.views.Tokens(ctx, identity.DefaultWorkspace)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	list := make([]Token, 0, len(states))
	for _, s := range states {
		if governs(c, s) {
			list = append(list, tokenOf(s))
		}
	}
	return list, nil
}

func tokenOf(s identity.State) Token {
	return Token{
		ID: s.ID, Role: s.Principal.Role, Name: s.Principal.Name, Workspace: s.Principal.Workspace, Label: s.Label, Person: s.Person, By: s.CreatedBy,
		Created: s.CreatedAt, Expires: s.ExpiresAt, Revoked: s.RevokedAt,
	}
}

// Authenticate finds out who presents a token's text. It is a fresh read: a token that was revoked counts no more on any
// node. Attempts that fail are on record, rate-limited. What is no token of this server is the issuer's to judge, if there
// is one.
func (r *Roster) Authenticate(ctx context.Context, text string) (caller.Caller, error) {
	if r.issuer != nil && !identity.IsToken(text) {
		return r.vouchedFor(ctx, text)
	}
	id, secret, err := identity.ParseToken(text)
	if err != nil {
		return caller.Caller{}, r.unauthenticated(ctx, "", err)
	}
	f, err := r.tokens.Load(ctx, tokenStream(id), true)
	if err != nil {
		return caller.Caller{}, err
	}
	p, err := identity.Verify(f.State, secret, r.now())
	if err != nil {
		return caller.Caller{}, r.unauthenticated(ctx, id, err)
	}
	c := caller.Caller{Principal: p, Token: id, Person: f.State.Person}
	if c.Agent() == "" {
		return c, nil
	}
	agent, err := r.Known(ctx, p.Workspace, p.Name, false)
	if err != nil {
		return caller.Caller{}, err
	}
	if !agent.Exists() || f.State.CreatedAt.Before(agent.RegisteredAt) {
		return caller.Caller{}, r.unauthenticated(ctx, id, refusal.New(refusal.Unauthenticated, "have an operator make a new token",
			"agent %s was removed after this token was made", p.Name))
	}
	return c, nil
}

func (r *Roster) unauthenticated(ctx context.Context, token string, err error) error {
	return r.access.Refused(ctx, identity.DefaultWorkspace, access.Stranger(), "authenticate", token, err)
}
