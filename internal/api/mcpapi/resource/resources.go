package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/fit"
)

// resource is a kind of resource: a fixed URI or a template.
type resource struct {
	uri, name, title, about, media string
	read                           func(context.Context, *client.Client, target) (*mcp.ReadResourceResult, error)
}

func (e resource) template() bool { return strings.Contains(e.uri, "{") }

// The media types.
const (
	asJSON     = "application/json"
	asMarkdown = "text/markdown"
	asText     = "text/plain"
	asBytes    = "application/octet-stream"
)

// resources are all resources of the server. No name is that of a tool or prompt: there are clients that show a model all of them as tools.
var resources = []resource{
	{
		"trapeze://inbox", "inbox-items", "Your inbox",
		"The items that wait for you, most urgent first. Reading it starts no timeout. Supports subscriptions.", asJSON, readInbox,
	},
	{
		"trapeze://task/{id}{?from}", "task-state", "A task",
		"The state of a task. Supports subscriptions.", asJSON,
		func(ctx context.Context, c *client.Client, p target) (*mcp.ReadResourceResult, error) {
			t, err := c.Task(ctx, p.id)
			return p.json(t, err)
		},
	},
	{
		"trapeze://task/{id}/history{?after}", "task-history", "A task's history",
		"All recorded events of a task, oldest first; after is a position.", asJSON, readHistory,
	},
	{
		"trapeze://task/{id}/drift{?from}", "task-drift", "A task's drift",
		"What each hop of a task kept, changed, omitted and dropped of its context.", asJSON,
		func(ctx context.Context, c *client.Client, p target) (*mcp.ReadResourceResult, error) {
			d, err := c.Drift(ctx, p.id)
			return p.json(d, err)
		},
	},
	{
		"trapeze://handoff/{id}{?from}", "handoff-context", "A handoff's context",
		"The context that the receiver of a handoff works from, as rendered for it.", asMarkdown,
		func(ctx context.Context, c *client.Client, p target) (*mcp.ReadResourceResult, error) {
			if !strings.Contains(p.id, ".h") {
				return nil, notFound(p.uri, "")
			}
			s, err := c.Content(ctx, p.id, client.ContentInput{Render: true, Via: client.ViaMCP})
			if err != nil {
				return nil, err
			}
			p.packed = true
			return p.part(s.Prompt, asMarkdown)
		},
	},
	{
		"trapeze://envelope/{id}{?from}", "sealed-envelope", "A sealed envelope",
		"The sealed envelope of a task, a handoff or a share.", asJSON,
		func(ctx context.Context, c *client.Client, p target) (*mcp.ReadResourceResult, error) {
			s, err := c.Content(ctx, p.id, client.ContentInput{})
			if err != nil {
				return nil, err
			}
			return p.part(string(s.Envelope), asJSON)
		},
	},
	{
		"trapeze://memory/{id}{?task,from}", "memory-item", "A memory item",
		"A memory item; task is the task whose envelope refers to the item, if that reference is your permission to read it.", asJSON,
		func(ctx context.Context, c *client.Client, p target) (*mcp.ReadResourceResult, error) {
			m, err := c.Memory(ctx, p.id, client.MemoryReference{Task: p.query.Get("task")})
			return p.json(m, err)
		},
	},
	{
		"trapeze://artifact/{+digest}{?from}", "artifact-file", "An artifact",
		"A file that an envelope refers to, by its digest (sha256:…), up to 128 KiB.", "", readArtifact,
	},
}

// reader returns the handler that reads a resource.
func (s *Server) reader(e *resource) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		p, err := locate(req.Params.URI, e.uri)
		if err != nil {
			return nil, err
		}
		p.reader = sync.OnceValues(func() (fit.Reader, error) { return fit.For(ctx, s.client) })
		r, err := e.read(ctx, s.client, p)
		if err != nil {
			return nil, refused(ctx, p.uri, err)
		}
		return r, nil
	}
}

// notFound is the protocol error for a resource that does not exist or that the caller may not see. why is what the API says of it, such as that it was
// erased; it may be empty.
func notFound(uri, why string) error {
	data, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		data = nil // a string can always be encoded
	}
	message := "Resource not found"
	if why != "" {
		message += ": " + why
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message, Data: data}
}

// refused converts an error of the API to a protocol error. For a read, uri is the resource, and an error "not found" of the API is
// the protocol's "resource not found"; otherwise uri is empty.
func refused(ctx context.Context, uri string, err error) error {
	var wire *jsonrpc.Error
	var e *client.Error
	switch {
	case errors.As(err, &wire):
		return err
	case uri != "" && (errors.Is(err, client.NotFound) || errors.Is(err, client.Invalid)): // a malformed id
		why := ""
		if errors.As(err, &e) {
			why = e.Message
		}
		return notFound(uri, why)
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.As(err, &e):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "unavailable: the server cannot be reached. Try again."}
	}
	code := int64(jsonrpc.CodeInvalidParams)
	if errors.Is(err, client.Unavailable) || errors.Is(err, client.Unknown) {
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: code, Message: e.Error()}
}

func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

const mostItems = 100

func readInbox(ctx context.Context, c *client.Client, p target) (*mcp.ReadResourceResult, error) {
	box, err := c.Inbox(ctx, client.InboxOptions{Peek: true, Limit: mostItems})
	if err != nil {
		return nil, err
	}
	return p.list(len(box.Items), func(n int) any {
		first := box
		first.Items = box.Items[:n]
		return first
	}, "items wait: the tool inbox has them, in pages")
}
