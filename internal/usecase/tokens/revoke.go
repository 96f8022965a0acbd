package tokens

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Revoke ends a token for good.
func (ts *Tokens) Revoke(ctx context.Context, c caller.Caller, id string) (Token, error) {
	err := c.May(identity.ManageTokens, "revoke a token")
	var out stream.Outcome[identity.State]
	if err == nil {
		out, err = ts.revoke(ctx, c, id)
	}
	if err != nil {
		return Token{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "revoke-token", id, err)
	}
	return tokenOf(*out.State), nil
}

// revoke ends a token of the caller's workspace; admins of the default workspace may end any.
func (ts *Tokens) revoke(ctx context.Context, c caller.Caller, id string) (stream.Outcome[identity.State], error) {
	if err := identity.CheckID(id); err != nil {
		return stream.Outcome[identity.State]{}, err
	}
	f, err := ts.tokens.Load(ctx, tokenStream(id), true)
	if err != nil {
		return stream.Outcome[identity.State]{}, err
	}
	if f.State.Exists() && !governs(c, f.State) {
		return stream.Outcome[identity.State]{}, refusal.New(refusal.NotFound, "[list the tokens](token list) to see which there are", "there is no token %.40q", id)
	}
	return ts.change(ctx, c, id, "", identity.Revoke{ID: id, By: c.String()})
}
