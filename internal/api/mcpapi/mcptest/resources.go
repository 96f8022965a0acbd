package mcptest

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func addResources(s *mcp.Server) {
	for _, r := range []mcp.ResourceContents{
		{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."},
		{URI: "test://static-binary", MIMEType: "image/png", Blob: picture},
		{URI: "test://watched-resource", MIMEType: "text/plain", Text: "Watched resource content"},
	} {
		name := strings.TrimPrefix(r.URI, "test://")
		s.AddResource(&mcp.Resource{Name: name, URI: r.URI, MIMEType: r.MIMEType}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&r}}, nil
		})
	}
	const before, after = "test://template/", "/data"
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: before + "{id}" + after, MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			uri := req.Params.URI
			id := strings.TrimSuffix(strings.TrimPrefix(uri, before), after)
			text := fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id)
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json", Text: text}}}, nil
		})
}

func addPrompts(s *mcp.Server) {
	type handler = func(*mcp.GetPromptRequest) *mcp.GetPromptResult
	for name, p := range map[string]struct {
		arguments []string
		get       handler
	}{
		"test_simple_prompt": {nil, func(*mcp.GetPromptRequest) *mcp.GetPromptResult {
			return prompt(&mcp.TextContent{Text: "This is a simple prompt for testing."})
		}},
		"test_prompt_with_arguments": {[]string{"arg1", "arg2"}, func(req *mcp.GetPromptRequest) *mcp.GetPromptResult {
			in := req.Params.Arguments
			return prompt(&mcp.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", in["arg1"], in["arg2"])})
		}},
		"test_prompt_with_embedded_resource": {[]string{"resourceUri"}, func(req *mcp.GetPromptRequest) *mcp.GetPromptResult {
			r := &mcp.ResourceContents{URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}
			return prompt(&mcp.EmbeddedResource{Resource: r}, &mcp.TextContent{Text: "Please process the embedded resource above."})
		}},
		"test_prompt_with_image": {nil, func(*mcp.GetPromptRequest) *mcp.GetPromptResult {
			return prompt(&mcp.ImageContent{Data: picture, MIMEType: "image/png"}, &mcp.TextContent{Text: "Please analyze the image above."})
		}},
		"test_input_required_result_prompt": {nil, func(req *mcp.GetPromptRequest) *mcp.GetPromptResult {
			if r, ok := req.Params.InputResponses["user_context"].(*mcp.ElicitResult); ok && r.Action == "accept" {
				return prompt(&mcp.TextContent{Text: fmt.Sprintf("With this in mind: %v", r.Content["context"])})
			}
			q := elicit("What is it about?", `{"context":{"type":"string"}}`, "context")
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": q}}
		}},
	} {
		described := &mcp.Prompt{Name: name, Description: about}
		for _, a := range p.arguments {
			described.Arguments = append(described.Arguments, &mcp.PromptArgument{Name: a, Required: true})
		}
		s.AddPrompt(described, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return p.get(req), nil
		})
	}
}

func prompt(all ...mcp.Content) *mcp.GetPromptResult {
	var r mcp.GetPromptResult
	for _, c := range all {
		r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return &r
}
