package tokens

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Issuer judges tokens that are not of this server.
type Issuer interface {
	// Vouch checks a token and names the agent or person that it speaks for. Refusals: unauthenticated for a token that does not count,
	// unavailable while that cannot be found out.
	Vouch(ctx context.Context, token string) (identity.ExternalToken, error)
}

// vouchedFor finds out for whom an issuer's token speaks. That the token was taken, and of whom, is recorded before anything is done with it.
func (ts *Tokens) vouchedFor(ctx context.Context, text string) (caller.Caller, error) {
	sum := sha256.Sum256([]byte(text))
	id := "oauth:" + hex.EncodeToString(sum[:16])
	v, err := ts.issuer.Vouch(ctx, text)
	if err != nil {
		return caller.Caller{}, ts.unauthenticated(ctx, id, err)
	}
	c := caller.Caller{
		Principal: identity.Principal{Workspace: v.Workspace, Role: v.Role, Name: v.Name}, Token: id, Person: v.Person, Expires: v.Expires,
	}
	if !v.SignIn {
		c.Scopes = &v.Scopes
	}
	if v.Role == identity.Agent {
		c, err = ts.vouchedAgent(ctx, c, v)
	} else {
		c, err = ts.vouchedPerson(ctx, c)
	}
	if err != nil {
		return caller.Caller{}, err
	}
	if err := c.May(identity.ReadOwn, "call this server"); err != nil {
		return caller.Caller{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "authenticate", id, err)
	}
	return c, ts.introduce(ctx, c, v)
}

// vouchedPerson is the caller of a token that names a person. The workspace must have been made: no token does that.
func (ts *Tokens) vouchedPerson(ctx context.Context, c caller.Caller) (caller.Caller, error) {
	f, err := ts.spaces.Find(ctx, c.Workspace)
	if err != nil {
		return c, err
	}
	if err := f.State.CheckExists(c.Workspace); err != nil {
		return c, ts.unauthenticated(ctx, c.Token, err)
	}
	c.Archived = f.State.MayChange(c.Workspace)
	if f.State.IsArriving() {
		return c, c.Archived
	}
	return c, nil
}

// vouchedAgent is the caller of a token that names an agent. The agent must be registered: no token does that. If its name is
// registered again, the token must certainly have been issued after that, also by an issuer whose clock is ahead: one that was issued
// before is of the agent that was removed.
func (ts *Tokens) vouchedAgent(ctx context.Context, c caller.Caller, v identity.ExternalToken) (caller.Caller, error) {
	agent, err := ts.agents.Find(ctx, c.Workspace, c.Name, false) // an issuer vouches for names
	if err != nil {
		return c, err
	}
	c.Name = cmp.Or(agent.Name, c.Name)
	if !agent.Exists() {
		return c, ts.unauthenticated(ctx, c.Token, refusal.New(refusal.NotPermitted, "have an operator "+help.To("add it", "agent add", refusal.Clip(v.Name, event.MaxName)),
			"the token is good, but no agent %.80q is registered here", v.Name))
	}
	if agent.Registration > 1 && v.NotIssuedBefore.Before(agent.RegisteredAt) || ts.isOfAnother(c) {
		return c, ts.unauthenticated(ctx, c.Token, refusal.New(refusal.Unauthenticated,
			"get a new token from the issuer, with the claim iat, half a minute after the name was registered again",
			"agent %s was removed, and its name registered again at %s, and this token may be older", v.Name, agent.RegisteredAt.Format(time.RFC3339)))
	}
	return c, nil
}

// isOfAnother reports whether a token has already acted as another agent of the same name.
func (ts *Tokens) isOfAnother(c caller.Caller) bool {
	agent, there := ts.vouched.Get(c.Token)
	return there && agent != c.Name
}

// introduce records a token, at least once.
func (ts *Tokens) introduce(ctx context.Context, c caller.Caller, v identity.ExternalToken) error {
	if ts.vouched.Contains(c.Token) {
		return nil
	}
	err := ts.access.Append(ctx, c.Workspace, c.Actor(), access.Vouched{
		Token: c.Token, Issuer: refusal.Clip(v.Issuer, 512), Subject: refusal.Clip(v.Subject, 512), Client: refusal.Clip(v.Client, 512), ID: refusal.Clip(v.ID, 512),
		Scope: v.Scopes.String(), Expires: v.Expires.UTC().Truncate(time.Second),
	})
	if err == nil {
		ts.vouched.Add(c.Token, c.Name)
	}
	return err
}
