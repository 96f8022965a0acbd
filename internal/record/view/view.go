package view

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// MaxPage is the greatest number of items of a page. A limit of 0 means 50.
const (
	MaxPage     = 500
	defaultPage = 50
)

// PageSize returns the number of items of a page with a limit.
func PageSize(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return min(limit, MaxPage)
}

// CheckLimit refuses (invalid) a number of items of a page that is out of range.
func CheckLimit(limit int) error {
	if limit < 0 || limit > MaxPage {
		return refusal.New(refusal.Invalid, "use 1 to 500", "a limit of %d is out of range", limit).With("field", "limit")
	}
	return nil
}

// Ref names a task in a workspace.
type Ref struct {
	Workspace string
	Task      string
}

// Timers lists the tasks with timers that are due, or that may be early.
type Timers interface {
	// Due lists up to limit tasks whose next timer is due at or before a time, the longest overdue first, and a time before which no other is due: that of
	// the first timer after those, or of one that was stopped a moment ago (zero if none).
	Due(ctx context.Context, by time.Time, limit int) ([]Ref, time.Time, error)
	// Waiting lists the ids of handoffs that were offered to nobody yet and wait for an open circuit, of those that an agent is a candidate of.
	Waiting(ctx context.Context, workspace, agent string) ([]string, error)
}

// Cursors stores the positions of followers of the record, such as the courier.
type Cursors interface {
	// Cursor returns the position that a follower has saved under a name; 0 if none.
	Cursor(ctx context.Context, name string) (ledger.Position, error)
	// SaveCursor saves the position of a follower. It is on disk with the next entry, or within about a second if there is none, and when the views
	// are closed.
	SaveCursor(ctx context.Context, name string, at ledger.Position) error
}

// Freshness tells the position of the views, and signals their changes.
type Freshness interface {
	// Wait returns when the views have every entry up to a position, or when ctx ends.
	Wait(ctx context.Context, at ledger.Position) error
	// Watch signals whenever something may have come to the inbox of an agent of the workspace, and mostly when something has left it; the empty workspace and agent mean
	// any change of any view, of which the signal may come two seconds late unless a timer is due before that. The channel holds one pending signal and is never closed; stop ends it.
	Watch(workspace, agent string) (changed <-chan struct{}, stop func())
	// WatchTask signals whenever the views have a new entry of a task.
	WatchTask(workspace, task string) (changed <-chan struct{}, stop func())
	// Position is the position of the newest entry in the views.
	Position() ledger.Position
	// Err is nil while the views are reliable; otherwise it says what to do.
	Err() error
}

// Store is all views. Usually one value implements every interface.
type Store struct {
	TaskQueries
	TicketQueries
	DecisionQueries
	Directory
	WorkspaceQueries
	References
	MemoryQueries
	MemoryVectors
	Timers
	Counts
	Cursors
	Freshness
}
