package admin

import (
	"context"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// Client administers one server with the token of an administrator, operator or auditor. It is safe for many goroutines.
type Client struct{ *client.Client }

// New returns a client that administers the server that c talks to, with the token and the options of c.
func New(c *client.Client) Client { return Client{c} }

// call makes a call of the path of segments, with an answer of type T.
func call[T any](ctx context.Context, c Client, method string, query wire.Query, in any, segments ...string) (out T, err error) {
	err = c.Call(ctx, method, wire.Path(segments...), query, in, &out)
	return out, err
}
