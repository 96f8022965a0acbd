package history

import (
	"context"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Memories are the memory items of a ledger.
type Memories interface {
	// Reader returns a function that gives an entry without what has been forgotten. It looks at each item once, and is for one answer.
	Reader() func(ctx context.Context, e ledger.Entry) (ledger.Entry, error)
	// RedactTitles removes the titles and texts of forgotten items from lists of envelopes.
	RedactTitles(ctx context.Context, workspace string, lists ...[]envelope.Envelope) error
	// Told returns a function that reports whether a caller may read the item of an entry. since is the position of the newest entry known of a task
	// that the caller sees. It is for the entries of one stream of events.
	Told(c caller.Caller) func(ctx context.Context, e ledger.Entry, since ledger.Position) (bool, error)
}

// Conversations are the conversations of a ledger.
type Conversations interface {
	// Told reports whether a caller may read the conversation of an entry.
	Told(ctx context.Context, c caller.Caller, e ledger.Entry) (bool, error)
}

// Envelopes are the sealed envelopes of tasks.
type Envelopes interface {
	// Chain is the envelopes of a task, oldest first, and what each receiver was given of them.
	Chain(ctx context.Context, workspace string, t task.Task, reads func(ledger.Entry) bool) (said, given []envelope.Envelope, err error)
}

// History is the use cases of the past of one ledger. Its methods are safe for many goroutines.
type History struct {
	ledger        ledger.Ledger
	tasks         *taskstore.Store
	access        *access.Log
	agents        desk.Agents
	memories      Memories
	conversations Conversations
	envelopes     Envelopes
	tree          Tree
	integrity     func() error
	work          *quota.Work
	keys          keys
	rotating      sync.Mutex // held while the key is rotated
}

// New returns the use cases. Without a tree, calls for proofs are refused. integrity is what was found to differ between the record and its tree.
func New(l ledger.Ledger, tasks *taskstore.Store, log *access.Log, a desk.Agents, m Memories, conversations Conversations, e Envelopes, tree Tree, integrity func() error, work *quota.Work, now func() time.Time) (*History, error) {
	keys, err := newKeys(l, now)
	if err != nil {
		return nil, err
	}
	return &History{ledger: l, tasks: tasks, access: log, agents: a, memories: m, conversations: conversations, envelopes: e, tree: tree, integrity: integrity, work: work, keys: keys}, nil
}
