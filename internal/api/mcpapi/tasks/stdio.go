package tasks

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxStreams is how many streams of notifications one connection may have open.
const maxStreams = 64

// Over is a transport of one client's messages, such as standard input and output, on which subscriptions/listen that names
// tasks gets notifications/tasks; [Handler] does so for HTTP. All other messages pass. The client may see the tasks of source.
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

// connection keeps the requests for streams from the server behind it, and serves them.
type connection struct {
	mcp.Connection
	source Source
	alive  context.Context //nolint:containedctx // ends with the connection, whoever reads from it
	end    context.CancelFunc

	following Following

	mu   sync.Mutex
	open map[jsonrpc.ID]context.CancelFunc // streams, by their requests
}

// Read implements [mcp.Connection].
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			c.end() // nothing more can be cancelled
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

// cancel stops a stream, if the request that is cancelled is for one. It may be for another, which the server knows.
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

// serve begins a stream, or refuses it, if that is what is asked for. It does not wait.
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

// admit makes room for a stream. Where it is refused for an id that is another's, the answer must not be taken for that one's.
func (c *connection) admit(id jsonrpc.ID) (context.Context, jsonrpc.ID, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.open[id] != nil:
		return nil, jsonrpc.ID{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a call with this id is not answered yet: give every call an id of its own"}
	case len(c.open) >= maxStreams:
		return nil, id, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "this session has as many streams of notifications open as it may: end one, or let one be about more"}
	}
	ctx, stop := context.WithCancel(c.alive)
	c.open[id] = stop
	return ctx, id, nil
}

// stream serves a stream until its tasks have ended, or it was cancelled, which is no error.
func (c *connection) stream(ctx context.Context, id jsonrpc.ID, p *parameters) error {
	s, err := open(ctx, c.source, &c.following, id, p)
	if err == nil {
		defer s.close()
	}
	if ctx.Err() != nil {
		return nil // nobody wants to know any more
	}
	if err == nil {
		s.tell(ctx, func(m jsonrpc.Message) error { return c.Write(ctx, m) })
	}
	return err
}

// answer answers the request for a stream that is over or refused. That which was cancelled is answered too, as the SDK does:
// whoever gave it away does not listen, and its id is free.
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
	_ = c.Write(c.alive, r) // a connection that is broken is noticed by whoever reads from it
}
