package taskext

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods of the extension.
const (
	methodGet    = "tasks/get"
	methodUpdate = "tasks/update"
	methodCancel = "tasks/cancel"
)

// Install adds the extension to a server: its methods, and handles instead of results where a tool calls [Later]. It must be called
// before the server serves, on a server with the capability of [Advertise].
func Install(s *mcp.Server, source Source) error {
	s.AddReceivingMiddleware(middleware(source))
	return errors.Join(
		mcp.AddReceivingCustomMethod(s, methodGet, func(ctx context.Context, ss *mcp.ServerSession, p *named) (*state, error) {
			return get(ctx, source, ss, p)
		}),
		mcp.AddReceivingCustomMethod(s, methodUpdate, func(ctx context.Context, _ *mcp.ServerSession, p *updateParams) (*done, error) {
			return update(ctx, source, p)
		}),
		mcp.AddReceivingCustomMethod(s, methodCancel, func(ctx context.Context, _ *mcp.ServerSession, p *named) (*done, error) {
			return cancel(ctx, source, p)
		}))
}

// clientRequest is what the middleware needs of a request; every request of the SDK implements it.
type clientRequest interface {
	ProtocolVersion() string
	ClientCapabilities() *mcp.ClientCapabilities
}

func middleware(source Source) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch method {
			case "tools/call":
				c := &call{declared: declared(req)}
				res, err := next(context.WithValue(ctx, contextKey{}, c), method, req)
				if err != nil || c.handle == "" {
					return res, err
				}
				return begun(ctx, source, c.handle, res)
			case methodGet, methodUpdate, methodCancel:
				if missing(req.GetParams()) {
					return nil, invalid("params is missing: it must have taskId")
				}
				if who, ok := req.(clientRequest); !ok || who.ProtocolVersion() < since {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " needs protocol version " + since}
				}
				if !declared(req) {
					return nil, Required()
				}
			}
			return next(ctx, method, req)
		}
	}
}

func declared(req mcp.Request) bool {
	who, ok := req.(clientRequest)
	return ok && who.ProtocolVersion() >= since && declares(who.ClientCapabilities())
}

func declares(c *mcp.ClientCapabilities) bool {
	if c == nil {
		return false
	}
	_, ok := c.Extensions[Extension]
	return ok
}

// begun answers a call whose result comes later with its handle. If the task has ended already, it returns its result instead, written
// into the result of the tool, which the SDK has marked as complete.
func begun(ctx context.Context, source Source, id string, res mcp.Result) (mcp.Result, error) {
	t, err := read(ctx, source, id)
	if err != nil {
		return nil, err
	}
	if r, ok := res.(*mcp.CallToolResult); ok && t.Status == Completed && t.Result != nil {
		r.Meta, r.Content, r.StructuredContent, r.IsError = t.Result.Meta, t.Result.Content, t.Result.StructuredContent, t.Result.IsError
		return r, nil
	}
	return &state{ResultType: "task", brief: briefOf(t)}, nil
}

func get(ctx context.Context, source Source, ss *mcp.ServerSession, p *named) (*state, error) {
	t, err := read(ctx, source, p.TaskID)
	if err != nil {
		return nil, err
	}
	who := &mcp.ServerRequest[*named]{Session: ss, Params: p}
	d, err := detailOf(t, who.ClientCapabilities())
	if err != nil {
		return nil, err
	}
	return &state{ResultType: "complete", brief: d.brief, detail: d.detail}, nil
}

func update(ctx context.Context, source Source, p *updateParams) (*done, error) {
	t, err := read(ctx, source, p.TaskID)
	if err != nil {
		return nil, err
	}
	answers, err := p.answers(t)
	if err != nil {
		return nil, err
	}
	if len(answers) > 0 {
		if err := source.Answer(ctx, t.ID, answers); err != nil {
			return nil, wireError(err, t.ID)
		}
	}
	return &done{ResultType: "complete"}, nil
}

func cancel(ctx context.Context, source Source, p *named) (*done, error) {
	t, err := read(ctx, source, p.TaskID)
	if err != nil {
		return nil, err
	}
	if !t.Status.Final() {
		err = source.Cancel(ctx, t.ID)
	}
	if err != nil {
		// If it has ended meanwhile, there is nothing to cancel.
		if t, again := source.Get(ctx, t.ID); again != nil || !t.Status.Final() {
			return nil, wireError(err, p.TaskID)
		}
	}
	return &done{ResultType: "complete"}, nil
}

// read reads the task of a handle.
func read(ctx context.Context, source Source, id string) (Task, error) {
	if id == "" {
		return Task{}, invalid("taskId is missing: give the handle that the tool call returned")
	}
	t, err := source.Get(ctx, id)
	if err != nil {
		return Task{}, wireError(err, id)
	}
	return t, nil
}

// maxEcho is how much of an unknown handle an error repeats, in bytes.
const maxEcho = 80

// wireError converts an error of a Source to a protocol error.
func wireError(err error, id string) error {
	var wire *jsonrpc.Error
	switch {
	case errors.Is(err, ErrUnknown):
		return invalid("no such task: %q; give a taskId that one of your tool calls returned", id[:min(len(id), maxEcho)])
	case errors.As(err, &wire), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
