package tokens

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// List lists the workspace's tokens, revoked ones too; in the default workspace, everybody's.
func (ts *Tokens) List(ctx context.Context, c caller.Caller) ([]Token, error) {
	if err := c.May(identity.ManageTokens, "list tokens"); err != nil {
		return nil, ts.access.Refused(ctx, c.Workspace, c.Actor(), "list-tokens", "", err)
	}
	states, err := ts.views.Tokens(ctx, identity.DefaultWorkspace)
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
