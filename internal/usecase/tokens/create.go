package tokens

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// TokenInput makes a token.
type TokenInput struct {
	Role      identity.Role `json:"role"`
	Name      string        `json:"name" doc:"Of the agent or person that it speaks for."`
	Label     string        `json:"label,omitempty" doc:"What it is for."`
	Person    string        `json:"person,omitempty" doc:"Of an agent's token: the person at its client, by name. The questions that the client says this person answers are recorded as answered by that operator."`
	Workspace string        `json:"workspace,omitempty" doc:"Where it counts; your own if left out. Admins of the workspace default may name another that exists."`
	Expires   time.Time     `json:"expires,omitzero" doc:"Left out: never."`
}

// Create makes a token. An agent's token needs a registered agent. Repeating it under one key gives the token's
// id but not its text, which exists only in the first answer.
func (ts *Tokens) Create(ctx context.Context, c caller.Caller, in TokenInput) (Token, error) {
	t, err := ts.create(ctx, c, in)
	if err != nil {
		return Token{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "create-token", in.Name, err)
	}
	return t, nil
}

func (ts *Tokens) create(ctx context.Context, c caller.Caller, in TokenInput) (Token, error) {
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
	if err := ts.admits(ctx, c, in.Workspace); err != nil {
		return Token{}, err
	}
	if in.Role == identity.Agent {
		if err := event.CheckAgent("the agent's name", in.Name); err != nil {
			return Token{}, err
		}
	}
	request, err := c.Digest("create-token", in)
	if err != nil {
		return Token{}, err
	}
	if in.Role == identity.Agent {
		known, err := ts.agents.Find(ctx, in.Workspace, in.Name, true)
		if err != nil {
			return Token{}, err
		}
		if !known.Exists() {
			return Token{}, refusal.New(refusal.NotFound, agent.ToAdd("add the agent", in.Name, " first", "[list the agents](agent list) to see who is registered"), "there is no agent %.80q", in.Name)
		}
		in.Name = known.Name
	}
	var random [identity.RandomBytes]byte
	if err := ts.random.Fill(random[:]); err != nil {
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
	out, err := ts.change(ctx, c, cmd.ID, request, cmd)
	if err != nil {
		return Token{}, err
	}
	t := tokenOf(*out.State)
	if !out.Repeat {
		t.Text = m.Text
	}
	return t, nil
}

// admits refuses a token for a workspace that was never made, or that is archived. A caller of the workspace shows that it is there.
func (ts *Tokens) admits(ctx context.Context, c caller.Caller, name string) error {
	f, err := ts.spaces.Find(ctx, name)
	if err != nil {
		return err
	}
	if name != c.Workspace {
		if err := f.State.CheckExists(name); err != nil {
			return err
		}
	}
	return f.State.MayChange(name)
}
