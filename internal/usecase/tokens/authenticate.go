package tokens

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Authenticate finds out who presents a token's text. It is a fresh read: a token that was revoked counts no more on any
// server. Attempts that fail are recorded, rate-limited. What is no token of this server is the issuer's to judge, if there
// is one.
func (ts *Tokens) Authenticate(ctx context.Context, text string) (caller.Caller, error) {
	if ts.issuer != nil && !identity.IsToken(text) {
		return ts.vouchedFor(ctx, text)
	}
	id, secret, err := identity.ParseToken(text)
	if err != nil {
		return caller.Caller{}, ts.unauthenticated(ctx, "", err)
	}
	learned := ts.current.Await(ctx)
	f, err := ts.tokens.Load(ctx, tokenStream(id), !learned)
	if err != nil {
		return caller.Caller{}, err
	}
	p, err := identity.Verify(f.State, secret, ts.now())
	if err != nil {
		return caller.Caller{}, ts.unauthenticated(ctx, id, err)
	}
	space, err := ts.spaces.State(ctx, p.Workspace)
	if err != nil {
		return caller.Caller{}, err
	}
	if space.IsArriving() {
		return caller.Caller{}, space.MayChange(p.Workspace)
	}
	c := caller.Caller{Principal: p, Token: id, Person: f.State.Person, Expires: f.State.ExpiresAt, Archived: space.MayChange(p.Workspace), Learned: learned}
	if c.Agent() == "" {
		return c, nil
	}
	agent, err := ts.agents.Known(ctx, p.Workspace, p.Name, false)
	if err != nil {
		return caller.Caller{}, err
	}
	if !agent.Exists() || f.State.CreatedAt.Before(agent.RegisteredAt) {
		return caller.Caller{}, ts.unauthenticated(ctx, id, refusal.New(refusal.Unauthenticated, "have an operator [make a new token](token create)",
			"agent %s was removed after this token was made", p.Name))
	}
	return c, nil
}

// Recall finds out who presents a token's text without the record, which cannot be read: as this server last knew the token. One that was revoked meanwhile
// still counts, so it is for calls alone that tell nothing of the record, by others than agents. known is false for a token that was not used here lately.
func (ts *Tokens) Recall(ctx context.Context, text string) (c caller.Caller, known bool) {
	id, secret, err := identity.ParseToken(text)
	if err != nil {
		return c, false
	}
	over, cancel := context.WithCancel(ctx)
	cancel() // what is not in memory is not read
	f, err := ts.tokens.Load(over, tokenStream(id), false)
	if err != nil {
		return c, false
	}
	p, err := identity.Verify(f.State, secret, ts.now())
	c = caller.Caller{Principal: p, Token: id, Person: f.State.Person, Expires: f.State.ExpiresAt}
	return c, err == nil && c.Agent() == ""
}

func (ts *Tokens) unauthenticated(ctx context.Context, token string, err error) error {
	return ts.access.Refused(ctx, identity.DefaultWorkspace, access.Stranger(), "authenticate", token, err)
}
