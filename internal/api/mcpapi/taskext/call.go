package taskext

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// call is a tool call in progress.
type call struct {
	declared bool   // the client declares the extension
	handle   string // the handle to return; empty if none
}

type contextKey struct{}

// Supported reports whether the client of the current tool call supports the extension.
func Supported(ctx context.Context) bool {
	c, ok := ctx.Value(contextKey{}).(*call)
	return ok && c.declared
}

// Later says that the result of the current tool call comes later, under a handle that the Source can resolve already. If it returns
// true, the client gets the handle whatever the tool returns, and the tool should return at once. If it returns false, the client does
// not support handles: the tool has to wait, or to refuse with [Required].
func Later(ctx context.Context, handle string) bool {
	c, ok := ctx.Value(contextKey{}).(*call)
	if !ok || !c.declared {
		return false
	}
	c.handle = handle
	return true
}

// Required returns the error for a client that must declare the extension and does not.
func Required() error {
	return &jsonrpc.Error{
		Code:    mcp.CodeMissingRequiredClientCapabilities,
		Message: "this needs the extension " + Extension + ": declare it in the request's client capabilities",
		Data:    json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + Extension + `":{}}}}`),
	}
}
