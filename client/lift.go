package client

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/client/wire"
)

// Lift removes a constraint, as the principal that set it or an operator, for a reason.
func (c *Client) Lift(ctx context.Context, task, constraint, why string) (Receipt, error) {
	return c.LiftTightening(ctx, task, constraint, "", why)
}

// LiftTightening removes only what one principal has tightened of a constraint, an agent by its name or "operator/NAME": as that principal, as an
// operator, or, if an agent tightened it, as the setter of the constraint or the requester of the task. The rest of the constraint stays.
func (c *Client) LiftTightening(ctx context.Context, task, constraint, tightenedBy, why string) (Receipt, error) {
	return ask[Receipt](ctx, c, http.MethodDelete, path("tasks", task, "constraints", constraint), wire.Query{"why": {why}, "tightened_by": {tightenedBy}}, nil)
}
