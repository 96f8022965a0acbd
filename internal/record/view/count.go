package view

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// InboxCount is how much waits in one inbox.
type InboxCount struct {
	Workspace string
	Agent     string    // "" is the inbox of the operators
	Items     int       // at least 1
	Oldest    time.Time // since when the item waits that came first of those that are no notices, nor shares of tasks that have ended; zero: all are
	From      string    // whom that item is from
}

// TaskCount is the number of tasks of a workspace that have not ended.
type TaskCount struct {
	Open      int // parked ones included
	Requested int // the same, as the limits of requesters count them
	Parked    int
}

// Counts counts what the lists show.
type Counts interface {
	// StateCounts counts the tasks that a filter lists on all its pages, by state. A state without tasks may be absent.
	StateCounts(ctx context.Context, workspace string, f TaskFilter) (map[event.State]int, error)
	// InboxCounts lists the inboxes of all workspaces that have items, by workspace and agent.
	InboxCounts(ctx context.Context) ([]InboxCount, error)
	// TaskCounts returns the number of tasks by workspace, and the position of the views that it is of. A workspace without open
	// tasks may be absent.
	TaskCounts(ctx context.Context) (map[string]TaskCount, ledger.Position, error)
	// Disagreeing returns those of some streams whose rows, such as items of inboxes and tickets, are not those that the ledger has at the position of
	// the views. It reads each stream as a whole. It looks at more rows, as many as it is told, going on from where the last call ended, and round,
	// and returns the streams of those that the ledger does not have, too. Such a row is looked at again if its stream is given in the next call.
	Disagreeing(ctx context.Context, streams []ledger.Stream, more int) ([]ledger.Stream, error)
}
