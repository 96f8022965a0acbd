package resource

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// Asked replaces the name of a prompt in a request, which is that of the client's set, by its own.
func Asked(params mcp.Params, set toolset.Set) error {
	var name *string
	switch p := params.(type) {
	case *mcp.GetPromptParams:
		if p != nil {
			name = &p.Name
		}
	case *mcp.CompleteParams:
		if p != nil && p.Ref != nil && p.Ref.Type == "ref/prompt" {
			name = &p.Ref.Name
		}
	}
	if name == nil {
		return nil
	}
	own, ok := strings.CutPrefix(*name, set.Prefixed(""))
	if !ok {
		return invalid("there is no prompt %.40q: names begin with %s here", *name, set.Prefixed(""))
	}
	*name = own
	return nil
}

// Present gives prompts, resources and templates of a list the names that they have in a set. Prompts that tell to call a tool that the set does not
// have are left out.
func Present(res mcp.Result, set toolset.Set) {
	switch r := res.(type) {
	case *mcp.ListPromptsResult:
		var seen []*mcp.Prompt
		for _, p := range r.Prompts {
			if offered(p.Name, set) {
				named := *p
				named.Name = set.Prefixed(p.Name)
				seen = append(seen, &named)
			}
		}
		r.Prompts = seen
	case *mcp.ListResourcesResult:
		for i, x := range r.Resources {
			named := *x
			named.Name = set.Prefixed(x.Name)
			r.Resources[i] = &named
		}
	case *mcp.ListResourceTemplatesResult:
		for i, x := range r.ResourceTemplates {
			named := *x
			named.Name = set.Prefixed(x.Name)
			r.ResourceTemplates[i] = &named
		}
	}
}
