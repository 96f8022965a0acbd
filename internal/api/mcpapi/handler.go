package mcpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

const (
	// MaxBody is the maximum size of a message, in bytes.
	MaxBody = transport.MaxBody
	// MaxBatch is the maximum number of messages in a batch, in the protocol versions that have batches.
	MaxBatch = transport.MaxBatch
)

// Identifies reports whether a message id, as JSON, can be returned unchanged.
func Identifies(id json.RawMessage) bool { return transport.Identifies(id) }

// HandlerOptions are the options of [NewHandler].
type HandlerOptions struct {
	Options
	Log *slog.Logger // nil means no log
	// Turn waits for the turn of a principal to have a message decoded, which may be large; leave ends it. nil means that nothing waits.
	Turn func(ctx context.Context, workspace, role, name string, large bool) (leave func(), err error)
	// Make returns the server of a principal; nil means [New].
	Make func(*client.Client, Options) *mcp.Server
}

// NewHandler returns the handler of /mcp: an MCP server for each principal, over Streamable HTTP. The servers call api, the HTTP API.
func NewHandler(api http.Handler, o HandlerOptions) http.Handler {
	if o.Make == nil {
		o.Make = New
	}
	return transport.New(api, transport.Options{Log: o.Log, Turn: o.Turn, Waits: waits, Stopping: o.Stopping, Make: func(c *client.Client, person string, ids func() string) (*mcp.Server, taskext.Source) {
		mine := o.Options
		mine.Person, mine.Secret, mine.SessionID = person, transport.Token, ids
		mine = mine.filled(c)
		return o.Make(c, mine), mine.Tasks
	}})
}
