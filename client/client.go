package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
	"github.com/trapezehq/trapeze/internal/domain/fastjson"
)

// MaxWait is the longest that one call waits for an inbox, a task or a ticket.
const MaxWait = 55 * time.Second

// Options of a client. The zero value is fine.
type Options struct {
	// HTTP makes the requests; nil means one of its own that keeps connections. Its Timeout must be longer than [MaxWait].
	HTTP *http.Client
	TLS  *tls.Config // of that client of its own; nil means the CAs of the system
	// Connections is how many idle connections are kept; 0 means 64. Use as many as there are calls at once.
	Connections int
	// Retries is how often a call is repeated after network errors and after "unavailable" or "unknown", under the same idempotency key, at each server; 0 means 4, below 0 never.
	Retries int
	// Patience is how long a call is repeated that no server answers, as while one restarts, even if Retries are used up: from the first call that was not answered on, or after as long without a call.
	Patience time.Duration
	// Pause is the first pause before a repetition, which then doubles up to 5 s; 0 means 100 ms. The server's Retry-After counts if it is longer.
	Pause time.Duration
	// Timeout is the longest that one attempt takes, beside what it waits for on purpose; 0 means 30 s, or 10 s with several servers. Exports, event streams
	// and artifacts take as long as they take, but artifacts must not stand still for longer.
	Timeout time.Duration
	// UserAgent names the program; empty means "trapeze-client".
	UserAgent string
	// Watch, unless nil, is called when [Client.Events] finds that the server is away, with the reason, and when it is back, with nil.
	Watch func(away error)
}

// Client talks to one server with one token. It is safe for many goroutines.
type Client struct {
	conn  wire.Conn
	watch func(away error)
}

// New returns a client of the server at baseURL ("http://127.0.0.1:8727"), or of several that share a record, with commas between: a call that one does not
// answer goes on to the next, with its idempotency key. It makes no request. The token must not be empty, and neither it nor a URL may be malformed.
func New(baseURL, token string, o Options) (*Client, error) {
	servers, err := wire.ParseServers(baseURL)
	if err != nil {
		return nil, err
	}
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("client: the token is empty or malformed")
	}
	o.Connections, o.Retries, o.UserAgent = cmp.Or(max(o.Connections, 0), 64), cmp.Or(o.Retries, 4), cmp.Or(o.UserAgent, "trapeze-client")
	o.Pause, o.Timeout = cmp.Or(max(o.Pause, 0), 100*time.Millisecond), cmp.Or(max(o.Timeout, 0), servers.Timeout())
	if o.HTTP == nil {
		o.HTTP = wire.HTTP(o.Connections, o.TLS)
	}
	return &Client{watch: o.Watch, conn: wire.Conn{
		Servers: servers, Headers: http.Header{"Authorization": {"Bearer " + token}, "User-Agent": {o.UserAgent}}, HTTP: o.HTTP, Retries: o.Retries, FirstPause: o.Pause, Timeout: o.Timeout, Patience: o.Patience, Least: least,
		Refused: func(res *http.Response, body []byte) error { return errorOf(res, body) },
	}}, nil
}

// URL is where the server is: of several, the one that calls go to now.
func (c *Client) URL() string { return c.conn.Servers.Current() }

// URLs is all of several, for [New].
func (c *Client) URLs() string { return c.conn.Servers.String() }

// Close drops idle connections. The client can be used again.
func (c *Client) Close() { c.conn.HTTP.CloseIdleConnections() }

type contextKey int

const (
	keyOfCall contextKey = iota
	minPosition
	personAt
	traceOf
)

// WithKey makes the next changing call that is given the context use this idempotency key. Two calls share one only if they are the same call.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfCall, key)
}

// WithPerson makes calls that answer, approve or deny count as those of the person whom the agent's token names, for clients that have asked them. Others are refused.
func WithPerson(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, personAt, name)
}

// trace is a W3C trace context.
type trace struct{ parent, state string }

// WithTrace makes changing calls that are given the context send a W3C trace context (traceparent, and tracestate, which may be empty). The
// envelope of a task that such a call hands off has it, so that the receiver can continue the trace. A malformed one is ignored.
func WithTrace(ctx context.Context, parent, state string) context.Context {
	return context.WithValue(ctx, traceOf, trace{parent, state})
}

// WithPosition makes reads that are given the context wait until the server's lists have everything up to a position, such as that of a [Receipt].
func WithPosition(ctx context.Context, position uint64) context.Context {
	return context.WithValue(ctx, minPosition, position)
}

// Ready is nil while the server can do its work, and otherwise says why it cannot. It is not repeated.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.conn.Timeout)
	defer cancel()
	return c.conn.Copy(ctx, wire.Call{Method: http.MethodGet, Path: "/readyz"}, io.Discard)
}

// Call makes a call that has no method of its own, such as those of package admin, and decodes its answer into out, which may be nil; path: see [wire.Path].
func (c *Client) Call(ctx context.Context, method, path string, query wire.Query, in, out any) error {
	return c.do(ctx, method, path, query, in, out)
}

// do makes a call and decodes its answer into out, which may be nil.
func (c *Client) do(ctx context.Context, method, path string, query wire.Query, in, out any) error {
	r := wire.Call{Method: method, Path: path, Query: query, Wait: query.Wait()}
	if in != nil {
		b, err := fastjson.Marshal(in)
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
		t, _ := ctx.Value(traceOf).(trace)         // none is empty
		r.TraceParent, r.TraceState = t.parent, t.state
	}
	return c.conn.Make(ctx, r, out)
}

// usualWait is how long each call of a waiting method waits by default.
const usualWait = 30 * time.Second

// await makes a read that may wait.
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

func path(segments ...string) string { return wire.Path(segments...) }
