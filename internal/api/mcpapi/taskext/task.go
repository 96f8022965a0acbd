package taskext

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Extension is the name of the capability that clients and servers declare.
const Extension = "io.modelcontextprotocol/tasks"

// since is the first protocol version with the extension: the version before had a different kind of tasks.
const since = "2026-07-28"

// Status is the status of a task.
type Status string

// The statuses. The last three are final.
const (
	Working       Status = "working"
	InputRequired Status = "input_required" // it waits for answers from the client
	Completed     Status = "completed"      // with a result, also if the result is a tool error
	Failed        Status = "failed"         // with a protocol error
	Cancelled     Status = "cancelled"
)

// Final reports whether the status is final.
func (s Status) Final() bool { return s == Completed || s == Failed || s == Cancelled }

// Task is the current state of a call whose result comes later.
type Task struct {
	ID      string
	Status  Status
	Message string // for a person or a model, about the status
	Created time.Time
	Updated time.Time
	TTL     time.Duration // lifetime from Created; 0 means unlimited
	Poll    time.Duration // advised polling interval; 0 means none
	// Questions are the questions of an InputRequired task. A key is never used twice in a task.
	Questions map[string]*mcp.ElicitParams
	Result    *mcp.CallToolResult // of a Completed task
	Err       *jsonrpc.Error      // of a Failed task
}

// ErrUnknown is the error of a [Source] for a handle that does not exist, or that the caller may not see.
var ErrUnknown = errors.New("no such task")

// Source resolves handles for one principal. It is safe for concurrent use. Its errors are [ErrUnknown], a *jsonrpc.Error that the client
// gets unchanged, or any other error, which the client gets as an internal error.
type Source interface {
	// Get reads a task.
	Get(ctx context.Context, id string) (Task, error)
	// Answer answers questions that were open when the task was last read. The first answer counts: answers to questions that are
	// closed meanwhile are ignored.
	Answer(ctx context.Context, id string, answers map[string]*mcp.ElicitResult) error
	// Cancel requests the cancellation of a task that was not final when it was last read.
	Cancel(ctx context.Context, id string) error
	// Changed waits until a task differs from seen, and returns it. It ends with ctx.
	Changed(ctx context.Context, seen Task) (Task, error)
}

// Advertise adds the extension to the capabilities of a server.
func Advertise(c *mcp.ServerCapabilities) { c.AddExtension(Extension, map[string]any{}) }
