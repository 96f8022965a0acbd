package mcpapi

import (
	"context"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/epoch"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/extratool"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/fit"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/refused"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// tools are the tools of the server, in the order in which an agent usually needs them.
var tools = slices.Concat([]tool.Tool{
	joinTool, sendTool, inboxTool, acceptTool, rejectTool, decideTool, progressTool, completeTool,
	escalateTool, askTool, statusTool, cancelTool, rememberTool, recallTool, conversationTool, routeTool,
}, extratool.Tools()) // of the set all

// call is one call of a tool.
type call struct{ *tool.Call }

// answer is the result of a tool.
type answer = tool.Answer

// receipt is the state of a task after a call.
type receipt = tool.Receipt

// define returns a tool as [tool.Define] does.
func define[In, Out any](name, title string, n tool.Nature, description string, run func(context.Context, *call, In) (answer, error)) tool.Tool {
	return tool.Define[In, Out](name, title, n, description, func(ctx context.Context, c *tool.Call, in In) (answer, error) { return run(ctx, &call{c}, in) })
}

// defineText returns a tool as [tool.DefineText] does.
func defineText[In any](name, title string, n tool.Nature, description string, run func(context.Context, *call, In) (answer, error)) tool.Tool {
	return tool.DefineText(name, title, n, description, func(ctx context.Context, c *tool.Call, in In) (answer, error) { return run(ctx, &call{c}, in) })
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

// invalid is the refusal of arguments that cannot be combined.
var invalid = argument.Invalid

// handler returns the handler of the tool for one principal. A refusal is a result that the model reads, not a protocol error.
func handler(t *tool.Tool, c *client.Client, o *Options, life *liveness.Pulse, given *epoch.Epochs) mcp.ToolHandler {
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
		trace := tracing.FromMeta(req.Params.Meta)
		ctx, traced := tracing.With(client.WithTrace(ctx, trace.Parent, trace.State), o.Tracer, t.Name(), trace)
		call := &tool.Call{
			Client: c, Req: req, Set: set, Secret: o.Secret(ctx), Person: o.Person, Beat: o.Beat, Waits: liveness.Waits{Remote: o.Remote, Stopping: o.Stopping},
			Session: &epoch.Session{Epochs: given, Client: c, MCP: req.Session, Say: set.Text},
		}
		a, err := t.Run(ctx, call)
		traced.End(err)
		var wire *jsonrpc.Error
		switch {
		case errors.As(err, &wire):
			return nil, wire
		case err != nil:
			said := refused.Result(ctx, refused.Call{Set: set, Tool: t.Name(), Arguments: req.Params.Arguments, Repeated: o.Remote}, call.Session.Stale(err))
			fit.Bound(ctx, c, set, t.Name(), false, said)
			return said, nil
		case a.Need != nil:
			return &mcp.CallToolResult{InputRequests: a.Need.Requests, RequestState: a.Need.State}, nil
		}
		if o.OnStatus != nil && a.Status != nil {
			o.OnStatus(*a.Status)
		}
		content := []mcp.Content{&mcp.TextContent{Text: visible.Document(a.Text)}}
		if asked, _ := req.Params.Meta[metaLinks].(bool); asked && req.ProtocolVersion() >= linksSince {
			content = append(content, a.More...)
		}
		result := &mcp.CallToolResult{Meta: a.Meta, Content: content, StructuredContent: a.Data}
		fit.Bound(ctx, c, set, t.Name(), a.Fits, result)
		return result, nil
	}
}
