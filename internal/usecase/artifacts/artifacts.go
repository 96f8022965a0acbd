package artifacts

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// DefaultGrace is how long what nothing refers to is kept after it was last put or checked.
const DefaultGrace = 24 * time.Hour

// cached bounds the artifacts of which the record's fold is kept in memory.
const cached = 1024

// Options of the use cases of artifacts. The zero value is fine.
type Options struct {
	// Grace is how long what nothing refers to is kept; 0 means [DefaultGrace]. It must be longer than any envelope
	// takes from its check to its place in the record.
	Grace time.Duration
	// Erased says of a file that an erasure names when it was erased and by whom, and which tasks with it; "": none names it. nil: nothing is erased.
	Erased func(ctx context.Context, workspace, digest string) (note string, tasks []string, err error)
}

// Tasks tells what a caller may read of tasks.
type Tasks interface {
	// Mentions reports whether something that a caller may read of a task of its workspace contains a text.
	Mentions(ctx context.Context, c caller.Caller, task, text string) (bool, error)
}

// Artifacts keeps artifacts for the callers of one server. Its methods are safe for many goroutines.
type Artifacts struct {
	store  artifact.Store // nil: this server keeps none
	ledger ledger.Ledger
	views  view.Store
	access *access.Log
	tasks  Tasks
	now    func() time.Time
	grace  time.Duration
	erased func(ctx context.Context, workspace, digest string) (note string, tasks []string, err error) // nil: nothing is
	kept   stream.Kind[holding, artifact.Event]
	busy   busy
}

// New returns the use cases over a store. Without one, every call is refused.
func New(store artifact.Store, l ledger.Ledger, v view.Store, log *access.Log, tasks Tasks, now func() time.Time, o Options) (*Artifacts, error) {
	s := &Artifacts{
		store: store, ledger: l, views: v, access: log, tasks: tasks, now: now, grace: cmp.Or(o.Grace, DefaultGrace), erased: o.Erased,
		busy: busy{of: map[string]int{}},
	}
	var err error
	s.kept, err = stream.New("artifact", l, fold, now, artifact.Events, stream.Options[holding, artifact.Event]{Cached: cached})
	return s, err
}

// holding is what the record says of an artifact.
type holding struct {
	By   []string // the principals that put it
	Kept bool     // not released since
}

func fold(h holding, e artifact.Event) holding {
	switch e := e.(type) {
	case artifact.Stored:
		h.Kept = true
		if !slices.Contains(h.By, e.By) {
			h.By = append(slices.Clip(h.By), e.By)
		}
	case artifact.Released:
		h.Kept = false
	}
	return h
}

func streamOf(k artifact.Key) ledger.Stream {
	return ledger.StreamOf(k.Workspace, "artifact", k.Digest.Hex())
}

// there refuses where no artifacts are kept.
func (as *Artifacts) there() error {
	if as.store == nil {
		return refusal.New(refusal.Conflict, "refer to files by an address instead", "this server keeps no artifacts")
	}
	return nil
}
