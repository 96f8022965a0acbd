package tokens

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ForModel refuses a token that no model should act with: that of an administrator. What a model does with it is done by nobody in particular,
// with every right.
func (ts *Tokens) ForModel(ctx context.Context, c caller.Caller) error {
	if c.Role != identity.Admin {
		return nil
	}
	err := refusal.New(refusal.NotPermitted, "use [a token of the agent](token create .role=agent .name) or [of an operator](token create .role=operator .name)", "this is the administrator's token, and a model should not have its rights")
	return ts.access.Refused(ctx, c.Workspace, c.Actor(), "connect-model", "", err)
}
