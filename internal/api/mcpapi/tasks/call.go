package tasks

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// call is a tool call under way.
type call struct {
	declared bool   // the client can be given a handle
	handle   string // that it is to be given
}

type contextKey struct{}

// Supported reports whether the client of the tool call under way can be given a handle.
func Supported(ctx context.Context) bool {
	c, ok := ctx.Value(contextKey{}).(*call)
	return ok && c.declared
}

// Later says that the result of the tool call under way comes later, under a handle that its Source knows by now. True
// means that the client is given the handle, whatever the tool returns, and the tool should return at once. False means
// that the client cannot be given one: the tool has to wait itself, or to refuse with [Required].
func Later(ctx context.Context, handle string) bool {
	c, ok := ctx.Value(contextKey{}).(*call)
	if !ok || !c.declared {
		return false
	}
	c.handle = handle
	return true
}

// Required is the error for a client that does not declare the extension, where it cannot go without.
func Required() error {
	return &jsonrpc.Error{
		Code:    mcp.CodeMissingRequiredClientCapabilities,
		Message: "this needs the extension " + Extension + ": declare it in the request's client capabilities",
		Data:    json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + Extension + `":{}}}}`),
	}
}
