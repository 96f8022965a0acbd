package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Extension is the name under which client and server declare that they can do tasks.
const Extension = "io.modelcontextprotocol/tasks"

// since is the first version of the protocol that has the extension: the one before had tasks of another kind.
const since = "2026-07-28"

// Status is how a task stands.
type Status string

// The statuses. The last three are final.
const (
	Working       Status = "working"
	InputRequired Status = "input_required" // it waits for answers of the client
	Completed     Status = "completed"      // with a result, be it that of a tool that failed
	Failed        Status = "failed"         // with an error of the protocol
	Cancelled     Status = "cancelled"
)

// Final reports whether nothing can happen to a task with this status any more.
func (s Status) Final() bool { return s == Completed || s == Failed || s == Cancelled }

// Task is a call whose result comes later, as it stands now.
type Task struct {
	ID      string
	Status  Status
	Message string // for a person or a model, about the status
	Created time.Time
	Updated time.Time
	TTL     time.Duration // from Created, after which it may be gone; 0 means never
	Poll    time.Duration // how often it is worth asking; 0 means no advice
	// Questions are what an InputRequired task waits for, by keys that are never used twice in a task.
	Questions map[string]*mcp.ElicitParams
	Result    *mcp.CallToolResult // of a Completed task
	Err       *jsonrpc.Error      // of a Failed task
}

// ErrUnknown is what a [Source] answers for a handle that it does not know, or that the caller may not see.
var ErrUnknown = errors.New("no such task")

// Source is where tasks are. It speaks for one principal and is used by many calls at once. Its errors are [ErrUnknown],
// a *jsonrpc.Error that is passed on as it is, or anything else, which is an internal error.
type Source interface {
	// Get reads a task.
	Get(ctx context.Context, id string) (Task, error)
	// Answer gives answers to questions that were open when the task was last read. Whoever was first counts: answers to
	// questions that are closed by now are ignored.
	Answer(ctx context.Context, id string, answers map[string]*mcp.ElicitResult) error
	// Cancel asks for the end of a task that was not final when it was last read.
	Cancel(ctx context.Context, id string) error
	// Changed waits until a task is no longer as it was seen, and reads it. It ends with ctx.
	Changed(ctx context.Context, seen Task) (Task, error)
}

// Advertise adds the extension to what a server says it can do.
func Advertise(c *mcp.ServerCapabilities) { c.AddExtension(Extension, map[string]any{}) }
