package admin

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// TrailAround is [client.Client.Trail] that goes on after entries that cannot be read, which are listed in their places as the event entry-damaged, or entry-put-away. It is
// for operators and auditors.
func (c Client) TrailAround(ctx context.Context, task string) (client.Trail, error) {
	q := wire.Query{}
	q.Flag("skip_damaged", true)
	return call[client.Trail](ctx, c, http.MethodGet, q, nil, "tasks", task, "trail")
}
