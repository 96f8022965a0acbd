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
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
)

// tools is all that agents are offered. Its order is the one in which a task usually meets them.
var tools = []tool{
	joinTool, sendTool, inboxTool, acceptTool, rejectTool, decideTool, progressTool, completeTool,
	escalateTool, askTool, statusTool, cancelTool, rememberTool, recallTool, conversationTool, routeTool,
}

// tool is what a client is told of a tool, and what it does.
type tool struct {
	spec func() *mcp.Tool // made when it is first wanted: most of the program's commands never want it
	run  func(context.Context, *call) (answer, error)
}

// call is one call of a tool.
type call struct {
	*client.Client
	req     *mcp.CallToolRequest
	options Options
	secret  string // of the principal
}

// answer is what a tool says: as text that a model reads, and the same as data for programs.
type answer struct {
	text   string
	data   any
	more   []mcp.Content        // links to what is large
	need   *need                // instead of all that: what the person at the client must say first
	status *liveness.TaskStatus // of the task that the call was about
}

// nature is what a client may show or ask its user about a tool, as annotations of the protocol: that of the strongest thing that
// the tool can do.
type nature int

const (
	looks    nature = iota // changes nothing
	changes                // adds to the record; a repetition with the same key is the same call
	repeats                // may be repeated freely: the second call changes nothing
	destroys               // can end something that cannot be taken up again: a task, a handoff by its denial, a memory item
)

func (n nature) hints(title string) *mcp.ToolAnnotations {
	destructive, open := n == destroys, false
	return &mcp.ToolAnnotations{
		Title: title, ReadOnlyHint: n == looks, IdempotentHint: n == looks || n == repeats, DestructiveHint: &destructive, OpenWorldHint: &open,
	}
}

// define makes a tool of a function. Its name is a verb of the command line; In and Out say what it takes and gives.
func define[In, Out any](name, title string, n nature, description string, run func(context.Context, *call, In) (answer, error)) tool {
	return tool{
		spec: sync.OnceValue(func() *mcp.Tool {
			return &mcp.Tool{
				Name: name, Description: description, Annotations: n.hints(title),
				InputSchema: argument.Schema[In](true), OutputSchema: argument.Schema[Out](false),
			}
		}),
		run: func(ctx context.Context, c *call) (answer, error) {
			in, err := argument.Decode[In](name, c.req.Params.Arguments)
			if err != nil {
				return answer{}, err
			}
			return run(ctx, c, in)
		},
	}
}

// linksSince is the first protocol version that knows links to resources in a tool's answer.
const linksSince = "2025-06-18"

// metaKey is where a client may put the idempotency key of a call, in its _meta.
const metaKey = "trapeze/key"

// invalid refuses arguments that do not go together.
var invalid = argument.Invalid

// handler is the tool for one principal. A refusal is a result that the model sees, not an error of the protocol.
func (t tool) handler(c *client.Client, o Options, life *liveness.Pulse) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !o.Remote {
			life.Beat(ctx)
		}
		if key, ok := req.Params.Meta[metaKey].(string); ok && key != "" {
			ctx = client.WithKey(ctx, key)
		}
		a, err := t.run(ctx, &call{Client: c, req: req, options: o, secret: o.Secret(ctx)})
		var wire *jsonrpc.Error
		switch {
		case errors.As(err, &wire):
			return nil, wire
		case err != nil:
			return refusal(ctx, err), nil
		case a.need != nil:
			return &mcp.CallToolResult{InputRequests: a.need.requests, RequestState: a.need.state}, nil
		}
		if o.OnStatus != nil && a.status != nil {
			o.OnStatus(*a.status)
		}
		content := []mcp.Content{&mcp.TextContent{Text: a.text}}
		if req.ProtocolVersion() >= linksSince {
			content = append(content, a.more...)
		}
		return &mcp.CallToolResult{Content: content, StructuredContent: a.data}, nil
	}
}

// alive tells the client, until the returned function is called, that a call which waits goes on. Clients that give up on
// silence do not; those that asked for no progress hear nothing.
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
				_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: what}) // it is gone
			}
		}
	}()
	return func() { cancel(); <-done }
}
