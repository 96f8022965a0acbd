package taskext

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxStreams is the maximum number of open notification streams of a connection.
const maxStreams = 64

// Transport wraps the transport of one client, such as standard input and output, and serves subscriptions/listen for tasks with
// notifications/tasks; [Handler] does the same for HTTP. All other messages pass unchanged. The client may see the tasks of source.
func Transport(t mcp.Transport, source Source) mcp.Transport { return &streamTransport{t, source} }

type streamTransport struct {
	mcp.Transport
	source Source
}

// Connect implements [mcp.Transport].
func (t *streamTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	alive, end := context.WithCancel(context.WithoutCancel(ctx))
	return &connection{Connection: c, source: t.source, alive: alive, end: end, open: map[jsonrpc.ID]context.CancelFunc{}}, nil
}

// connection serves the requests for notification streams itself; the server behind it does not see them.
type connection struct {
	mcp.Connection
	source Source
	alive  context.Context //nolint:containedctx // ends with the connection, not with a Read
	end    context.CancelFunc

	following Following

	mu   sync.Mutex
	open map[jsonrpc.ID]context.CancelFunc // open streams by request id
}

// Read implements [mcp.Connection].
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			c.end() // no more messages can arrive
			return nil, err
		}
		r, is := m.(*jsonrpc.Request)
		if is && r.Method == "notifications/cancelled" {
			c.cancel(r)
		}
		if !is || !c.serve(r) {
			return m, nil
		}
	}
}

// Close implements [mcp.Connection].
func (c *connection) Close() error {
	c.end()
	return c.Connection.Close()
}

// cancel stops a stream, if the cancelled request opened one. Otherwise the server handles the cancellation.
func (c *connection) cancel(r *jsonrpc.Request) {
	var p struct {
		RequestID any `json:"requestId"`
	}
	if json.Unmarshal(r.Params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.open[id]; stop != nil {
		stop()
	}
}

// serve starts or refuses a stream if r requests one, and reports whether it does. It does not block.
func (c *connection) serve(r *jsonrpc.Request) bool {
	if r.Method != methodListen || !r.IsCall() {
		return false
	}
	var p parameters
	malformed := json.Unmarshal(r.Params, &p) != nil
	if p.Meta.Version < since || !malformed && len(p.Notifications.TaskIDs) == 0 {
		return false
	}
	ctx, id, err := c.admit(r.ID)
	if err == nil && malformed {
		err = errMalformed
	}
	go func() {
		if err == nil {
			err = c.stream(ctx, id, &p)
		}
		c.answer(id, err)
	}()
	return true
}

// admit registers a stream. If the id of its request is in use, the refusal has no id, so that it is not taken for the answer to the
// other request.
func (c *connection) admit(id jsonrpc.ID) (context.Context, jsonrpc.ID, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.open[id] != nil:
		return nil, jsonrpc.ID{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a call with this id is still in progress: give every call its own id"}
	case len(c.open) >= maxStreams:
		return nil, id, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "this session has the maximum number of notification streams open: close one, or follow more tasks in one stream"}
	}
	ctx, stop := context.WithCancel(c.alive)
	c.open[id] = stop
	return ctx, id, nil
}

// stream serves a stream until its tasks have ended or it is cancelled, which is not an error.
func (c *connection) stream(ctx context.Context, id jsonrpc.ID, p *parameters) error {
	s, err := open(ctx, c.source, &c.following, id, p)
	if err == nil {
		defer s.close()
	}
	if ctx.Err() != nil {
		return nil // cancelled
	}
	if err == nil {
		s.tell(ctx, func(m jsonrpc.Message) error { return c.Write(ctx, m) })
	}
	return err
}

// answer responds to the request of a stream that has ended or was refused. A cancelled request gets a response too, as in the SDK: the
// client ignores it, and the id can be used again.
func (c *connection) answer(id jsonrpc.ID, err error) {
	c.mu.Lock()
	if stop := c.open[id]; stop != nil {
		stop()
		delete(c.open, id)
	}
	c.mu.Unlock()
	if c.alive.Err() != nil {
		return
	}
	var r *jsonrpc.Response
	if err == nil {
		r, err = over(id)
	}
	if err != nil {
		r = refused(id, err)
	}
	_ = c.Write(c.alive, r) // Read reports a broken connection
}
