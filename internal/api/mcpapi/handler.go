package mcpapi

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tasks"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

const (
	// MaxBody is the most bytes that one message to the server may have.
	MaxBody = transport.MaxBody
	// MaxBatch is the most messages that an array of them may have, in the protocol versions that have such batches.
	MaxBatch = transport.MaxBatch
)

// Identifies reports whether the id of a message, as it is written in JSON, is one that comes back as it was.
func Identifies(id json.RawMessage) bool { return transport.Identifies(id) }

// HandlerOptions of the door at /mcp.
type HandlerOptions struct {
	Options
	Log *slog.Logger // nil means no log
	// Make makes a principal's server; nil means [New].
	Make func(*client.Client, Options) *mcp.Server
}

// NewHandler returns the door at /mcp to what api serves: a server for every principal, over Streamable HTTP.
func NewHandler(api http.Handler, o HandlerOptions) http.Handler {
	if o.Make == nil {
		o.Make = New
	}
	return transport.New(api, transport.Options{Log: o.Log, Make: func(c *client.Client, person string) (*mcp.Server, tasks.Source) {
		mine := o.Options
		mine.Person, mine.Secret = person, transport.Token
		mine = mine.filled(c)
		return o.Make(c, mine), mine.Tasks
	}})
}
