package memories

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// The kinds of streams.
const (
	kindMemory       = "memory"
	kindConversation = "conversation"
)

// cached bounds the items, and the conversations, whose folds are kept in memory. Items of more than 32 KiB are not.
const cached = 2048

// remembered is how many of the newest idempotency keys of one item or conversation count at least.
const remembered = 1000

// Tasks is what this room must know of tasks.
type Tasks struct {
	// Load is a fresh read of a task; the zero task for one that is not there.
	Load func(ctx context.Context, workspace, task string) (task.Task, error)
	// Envelope is the bytes of a task's envelope, sealed or as packed for a receiver.
	Envelope func(ctx context.Context, workspace, task, digest string) ([]byte, error)
}

// Base is what is known on one ledger. Its methods are safe for many goroutines.
type Base struct {
	ledger ledger.Ledger
	views  view.Store
	access *access.Log
	tasks  Tasks
	now    func() time.Time
	random func([]byte) error
	items  stream.Kind[memory.State, memory.Event]
	talks  stream.Kind[conversation.State, conversation.Event]
}

// New returns what is known on a ledger, by the views that follow it. random fills bytes with chance.
func New(l ledger.Ledger, v view.Store, log *access.Log, tasks Tasks, now func() time.Time, random func([]byte) error) (*Base, error) {
	b := &Base{ledger: l, views: v, access: log, tasks: tasks, now: now, random: random}
	var err error
	if b.items, err = stream.New(kindMemory, l, memory.Fold, now, memory.Events, stream.Options[memory.State, memory.Event]{
		Cached: cached, Remember: remembered, Weigh: weight,
	}); err != nil {
		return nil, err
	}
	if b.talks, err = stream.New(kindConversation, l, conversation.Fold, now, conversation.Events, stream.Options[conversation.State, conversation.Event]{
		Cached: cached, Remember: remembered,
	}); err != nil {
		return nil, err
	}
	return b, nil
}

// weight is about how many bytes an item takes in memory.
func weight(s memory.State) int {
	n := 1024
	for _, v := range s.Versions {
		n += 256 + len(v.Title) + len(v.Text)
	}
	return n
}

func itemStream(workspace, id string) ledger.Stream {
	return ledger.StreamOf(workspace, kindMemory, id)
}

func talkStream(workspace, id string) ledger.Stream {
	return ledger.StreamOf(workspace, kindConversation, id)
}

// salt is chance for a version's digest.
func (b *Base) salt() (string, error) {
	var salt [16]byte
	err := b.random(salt[:])
	return hex.EncodeToString(salt[:]), err
}
