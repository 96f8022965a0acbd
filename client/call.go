package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// do makes a call and decodes its answer into out, which may be nil.
func (c *Client) do(ctx context.Context, method, path string, query wire.Query, in, out any) error {
	r := wire.Call{Method: method, Path: path, Query: query}
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return &Error{Code: Invalid, Message: err.Error(), Hint: "send what JSON can express"}
		}
		r.Body = b
	}
	return c.run(ctx, r, out)
}

// ask is do for an answer of type T.
func ask[T any](ctx context.Context, c *Client, method, path string, query wire.Query, in any) (out T, err error) {
	err = c.do(ctx, method, path, query, in, &out)
	return out, err
}

func (c *Client) run(ctx context.Context, r wire.Call, out any) error {
	if strings.Contains(r.Path, "//") || strings.HasSuffix(r.Path, "/") || strings.Contains(r.Path, "/.") {
		return &Error{Code: Invalid, Message: "an id or name is missing in " + r.Path, Hint: "give the ids that other answers give"}
	}
	if r.Method != http.MethodGet {
		r.Key = keyFor(ctx)
		r.Person, _ = ctx.Value(personAt).(string) // none is ""
	}
	return c.conn.Make(ctx, r, out)
}

// usualWait is how long each call waits by default.
const usualWait = 30 * time.Second

// await makes a read that waits.
func (c *Client) await(ctx context.Context, path string, q wire.Query, wait time.Duration, out any) error {
	if wait != 0 {
		q.Text("wait", wait.String())
	}
	return c.run(ctx, wire.Call{Method: http.MethodGet, Path: path, Query: q, Wait: max(wait, 0)}, out)
}

// keyFor is the idempotency key of a call: the one that it was given, or a new one.
func keyFor(ctx context.Context) string {
	if key, _ := ctx.Value(keyOfCall).(string); key != "" { // none is ""
		return key
	}
	return NewKey()
}

// NewKey returns an idempotency key: a UUID of version 7 (RFC 9562), so that ids derived from it sort by time.
func NewKey() string { return wire.NewKey() }

// least is the position that the answer to a read must have reached.
func least(ctx context.Context) uint64 {
	p, _ := ctx.Value(minPosition).(uint64) // none is 0
	return p
}

func malformed(err error) error {
	return &Error{Code: Invalid, Message: err.Error(), Hint: "check the ids and names in the call"}
}

func path(segments ...string) string { return wire.Path(segments...) }

// receipt makes a call that changes a task.
func (c *Client) receipt(ctx context.Context, in any, segments ...string) (Receipt, error) {
	return ask[Receipt](ctx, c, http.MethodPost, path(segments...), nil, in)
}
