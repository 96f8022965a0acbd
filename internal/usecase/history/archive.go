package history

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Chain gives what a task has said, envelope by envelope, and what each receiver was given of it.
type Chain func(ctx context.Context, workspace string, t task.Task) (said, given []envelope.Envelope, err error)

// Archive is the use cases over one ledger. Its methods are safe for many goroutines.
type Archive struct {
	ledger   ledger.Ledger
	views    view.Store
	tasks    *taskstore.Docket
	access   *access.Log
	readable func(context.Context, ledger.Entry) (ledger.Entry, error)
	chain    Chain
	ahead    Ahead
}

// Ahead is what it takes to say what would be sent.
type Ahead struct {
	Known func(ctx context.Context, workspace, name string, fresh bool) (agent.State, error)
	Draft func(ctx context.Context, by caller.Caller, t task.Task, h envelope.Header, c envelopes.Content, now time.Time) (envelope.Envelope, error)
	Now   func() time.Time
}

// New returns the use cases. readable leaves out of an entry what has been forgotten.
func New(l ledger.Ledger, v view.Store, tasks *taskstore.Docket, log *access.Log,
	readable func(context.Context, ledger.Entry) (ledger.Entry, error), chain Chain, ahead Ahead,
) *Archive {
	return &Archive{ledger: l, views: v, tasks: tasks, access: log, readable: readable, chain: chain, ahead: ahead}
}
