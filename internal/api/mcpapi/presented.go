package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// presented shows each client the tools of its set, under their names in the set, and the prompts that tell to call one of these, and resources, under theirs. The set is that of the message, or else usual. Tools
// that were added to the server from outside of this package have the names in added, and every client sees them.
func presented(usual toolset.Set, added map[string]bool) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			set, ok := toolset.From(ctx)
			if !ok {
				set = usual
				ctx = toolset.With(ctx, set)
			}
			if p, is := req.GetParams().(*mcp.CallToolParamsRaw); is && p != nil {
				switch tool, ok := set.Own(p.Name); {
				case ok:
					p.Name = tool
				case added[p.Name]:
				default:
					return nil, &jsonrpc.Error{
						Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %.80q; use one of: %s", p.Name, strings.Join(set.Seen(), ", ")),
					}
				}
			}
			if err := resource.Asked(req.GetParams(), set); err != nil {
				return nil, err
			}
			res, err := next(ctx, method, req)
			if err != nil {
				return res, err
			}
			switch r := res.(type) {
			case *mcp.ListToolsResult:
				r.Tools = append(specs(set), slices.DeleteFunc(r.Tools, func(t *mcp.Tool) bool { return !added[t.Name] })...)
			case *mcp.InitializeResult:
				r.Instructions = instructions(set)
			case *mcp.DiscoverResult:
				r.Instructions = instructions(set)
			}
			resource.Present(res, set)
			return res, nil
		}
	}
}

// specs describes the tools of a set.
func specs(set toolset.Set) []*mcp.Tool {
	var list []*mcp.Tool
	for _, t := range tools {
		spec := *t.Spec(set)
		if !set.Has(spec.Name) {
			continue
		}
		spec.Name, spec.Description = set.Name(spec.Name), set.Text(spec.Description)
		if schema, ok := spec.InputSchema.(json.RawMessage); ok {
			spec.InputSchema = json.RawMessage(set.Text(string(schema)))
		}
		list = append(list, &spec)
	}
	return list
}
