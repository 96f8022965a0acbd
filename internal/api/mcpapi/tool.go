package mcpapi

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/held"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// tools are the tools of the server, in the order in which an agent usually needs them.
var tools = []tool{
	joinTool, sendTool, inboxTool, acceptTool, rejectTool, decideTool, progressTool, completeTool,
	escalateTool, askTool, statusTool, cancelTool, rememberTool, recallTool, conversationTool, routeTool,
	constrainTool, deadTool, annotateTool, // of the set all
}

// tool is a tool: its description for clients and its implementation.
type tool struct {
	spec func() *mcp.Tool // built on first use: most commands of the program never need it
	run  func(context.Context, *call) (answer, error)
}

// call is one call of a tool.
type call struct {
	*client.Client
	req     *mcp.CallToolRequest
	options Options
	set     toolset.Set // the tools that the client sees
	secret  string      // of the principal

	held *held.Caller // what the session was given
}

// answer is the result of a tool: text for a model, and the same content as data for programs. The answer of a tool that is
// there to be read has no data: some clients show a model the data alone, as JSON, and others both.
type answer struct {
	text   string
	data   any
	meta   mcp.Meta             // for programs; no client shows it to a model
	more   []mcp.Content        // links to large content, for clients that ask for links
	need   *need                // if set, the call returns this instead: a question to the user of the client
	status *liveness.TaskStatus // of the task that the call is about
}

// nature determines the annotations of a tool, which a client may show its user. A tool has the nature of its strongest effect.
type nature int

const (
	looks    nature = iota // reads only
	changes                // adds to the record; idempotent under a key
	repeats                // idempotent
	destroys               // can end something for good: a task, a handoff (by denying it), a memory item
)

func (n nature) hints(title string) *mcp.ToolAnnotations {
	destructive, open := n == destroys, false
	return &mcp.ToolAnnotations{
		Title: title, ReadOnlyHint: n == looks, IdempotentHint: n == looks || n == repeats, DestructiveHint: &destructive, OpenWorldHint: &open,
	}
}

// define returns the tool that run implements. Its name is a verb of the command line; In and Out define its schemas.
func define[In, Out any](name, title string, n nature, description string, run func(context.Context, *call, In) (answer, error)) tool {
	t := defineText(name, title, n, description, run)
	spec := t.spec
	t.spec = sync.OnceValue(func() *mcp.Tool {
		x := *spec()
		x.OutputSchema = argument.Schema[Out](false)
		return &x
	})
	return t
}

// defineText returns a tool as [define] does, whose answer is to be read. It declares no output schema, so that it may answer
// with text alone.
func defineText[In any](name, title string, n nature, description string, run func(context.Context, *call, In) (answer, error)) tool {
	return tool{
		spec: sync.OnceValue(func() *mcp.Tool {
			return &mcp.Tool{Name: name, Description: description, Annotations: n.hints(title), InputSchema: argument.Schema[In](true)}
		}),
		run: func(ctx context.Context, c *call) (answer, error) {
			in, err := argument.Decode[In](c.set.Name(name), c.req.Params.Arguments)
			if err != nil {
				return answer{}, err
			}
			return run(ctx, c, in)
		},
	}
}

// linksSince is the first protocol version with resource links in the result of a tool.
const linksSince = "2025-06-18"

// The fields of _meta that a client may set in the call of a tool.
const (
	metaKey   = "trapeze/key"   // the idempotency key of the call
	metaLinks = "trapeze/links" // true asks for resource links in the result: many frameworks cannot pass them to a model
)

// metaReceipt is the field of _meta of a result of text alone that has the state of the task after the call, for programs.
const metaReceipt = "trapeze/receipt"

// The fields of _meta in which a client may put the W3C trace context of a call, as the protocol reserves them.
const (
	metaTraceParent = "traceparent"
	metaTraceState  = "tracestate"
)

// invalid is the refusal of arguments that cannot be combined.
var invalid = argument.Invalid

// say writes a text that names tools, see [toolset.Set.Text].
func (c *call) say(format string, args ...any) string { return c.set.Text(format, args...) }

// invalid is [invalid] with a text that names tools.
func (c *call) invalid(format string, args ...any) error {
	return invalid("%s", c.set.Text(format, args...))
}

// handler returns the handler of the tool for one principal. A refusal is a result that the model reads, not a protocol error.
func (t tool) handler(c *client.Client, o Options, life *liveness.Pulse, given *held.Epochs) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		set, ok := toolset.From(ctx)
		if !ok {
			set = o.Tools
		}
		if !o.Remote {
			life.Beat(ctx)
		}
		if key, ok := req.Params.Meta[metaKey].(string); ok && key != "" {
			ctx = client.WithKey(ctx, key)
		}
		if parent, ok := req.Params.Meta[metaTraceParent].(string); ok && parent != "" {
			state, _ := req.Params.Meta[metaTraceState].(string) // none is ""
			ctx = client.WithTrace(ctx, parent, state)
		}
		call := &call{Client: c, req: req, options: o, set: set, secret: o.Secret(ctx), held: &held.Caller{Epochs: given, Client: c, Session: req.Session, Say: set.Text}}
		a, err := t.run(ctx, call)
		var wire *jsonrpc.Error
		switch {
		case errors.As(err, &wire):
			return nil, wire
		case err != nil:
			return refusal(ctx, set, call.held.Stale(err)), nil
		case a.need != nil:
			return &mcp.CallToolResult{InputRequests: a.need.requests, RequestState: a.need.state}, nil
		}
		if o.OnStatus != nil && a.status != nil {
			o.OnStatus(*a.status)
		}
		content := []mcp.Content{&mcp.TextContent{Text: visible.Document(a.text)}}
		if asked, _ := req.Params.Meta[metaLinks].(bool); asked && req.ProtocolVersion() >= linksSince {
			content = append(content, a.more...)
		}
		return &mcp.CallToolResult{Meta: a.meta, Content: content, StructuredContent: a.data}, nil
	}
}

// alive sends progress notifications for a waiting call until stop is called, so that the client does not time out. A client that
// sent no progress token gets none.
func (c *call) alive(ctx context.Context, what string) (stop func()) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(c.options.Beat)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: what}) // the client is gone
			}
		}
	}()
	return func() { cancel(); <-done }
}

// keyed sets the idempotency key of the API calls made with ctx.
func keyed(ctx context.Context, key string) context.Context {
	if key == "" {
		return ctx
	}
	return client.WithKey(ctx, key)
}
