package client

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/client/wire"
)

// Lift removes a constraint, as the principal that set it or an operator, for a reason.
func (c *Client) Lift(ctx context.Context, task, constraint, why string) (Receipt, error) {
	return ask[Receipt](ctx, c, http.MethodDelete, path("tasks", task, "constraints", constraint), wire.Query{"why": {why}}, nil)
}
