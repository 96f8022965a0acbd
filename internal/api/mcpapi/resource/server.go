package resource

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

// Server adds resources, prompts and completion to the MCP server of one principal.
type Server struct {
	client *client.Client
	watch  watcher
}

// New returns a Server for the principal of c.
func New(c *client.Client) *Server {
	return &Server{client: c, watch: watcher{client: c, by: map[*mcp.ServerSession]map[string]bool{}}}
}

// Configure sets the handlers that an MCP server needs when it is created.
func (s *Server) Configure(o *mcp.ServerOptions) {
	o.CompletionHandler = s.complete
	o.SubscribeHandler = s.watch.subscribe
	o.UnsubscribeHandler = s.watch.unsubscribe
}

// Install adds resources and prompts to the MCP server, before it serves. A Server is for one MCP server.
func (s *Server) Install(server *mcp.Server) {
	s.watch.server = server
	server.AddReceivingMiddleware(encodableErrors)
	shared := descriptions()
	for i := range resources {
		if t := shared.templates[i]; t != nil {
			server.AddResourceTemplate(t, s.reader(&resources[i]))
			continue
		}
		server.AddResource(shared.resources[i], s.reader(&resources[i]))
	}
	for i := range prompts {
		server.AddPrompt(shared.prompts[i], s.writer(&prompts[i]))
	}
}

// described are the descriptions that the servers of all principals share, in the order of the lists.
type described struct {
	resources []*mcp.Resource // nil: it is a template
	templates []*mcp.ResourceTemplate
	prompts   []*mcp.Prompt
}

// descriptions builds the descriptions on first use: most commands of the program never need them.
var descriptions = sync.OnceValue(func() described {
	d := described{make([]*mcp.Resource, len(resources)), make([]*mcp.ResourceTemplate, len(resources)), make([]*mcp.Prompt, len(prompts))}
	for i, e := range resources {
		if e.template() {
			d.templates[i] = &mcp.ResourceTemplate{URITemplate: e.uri, Name: e.name, Title: e.title, Description: e.about, MIMEType: e.media}
			continue
		}
		d.resources[i] = &mcp.Resource{URI: e.uri, Name: e.name, Title: e.title, Description: e.about, MIMEType: e.media}
	}
	for i, p := range prompts {
		d.prompts[i] = p.spec()
	}
	return d
})

// encodableErrors repairs the SDK's "not found" error for URIs with characters that the SDK escapes as Go does and not as JSON. Without it such
// a call would never be answered, because the error cannot be encoded.
func encodableErrors(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		var wire *jsonrpc.Error
		if errors.As(err, &wire) && len(wire.Data) > 0 && !json.Valid(wire.Data) {
			if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok {
				return nil, notFound(p.URI, "")
			}
			return nil, &jsonrpc.Error{Code: wire.Code, Message: wire.Message}
		}
		return res, err
	}
}
