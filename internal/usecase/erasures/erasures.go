package erasures

import (
	"context"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

const (
	cached     = 256   // workspaces whose erasures are kept in memory
	remembered = 1_000 // idempotency keys that a workspace remembers at least
)

// Kind is the kind of the streams of erasures and holds.
const Kind = "erasure"

// StreamOf is the stream of the erasures and holds of a workspace.
func StreamOf(workspace string) ledger.Stream { return ledger.StreamOf(workspace, Kind, "current") }

// Keys are the keys under which the content of the record is sealed.
type Keys interface {
	// Destroy destroys keys of streams, durably. Destroying them again changes nothing.
	Destroy(streams []ledger.Stream, ids []string, at time.Time, by string) error
	// Has reports whether there is a key, which was not destroyed.
	Has(id string) bool
	// Begin notes, durably, that something may be pending, and End that it is not: erasures of a workspace, that of a memory item, which is
	// named by its stream, or scrub.
	Begin(names ...string) error
	End(names ...string) error
	// Pending lists what was noted.
	Pending() ([]string, error)
}

// Options of the use cases.
type Options struct {
	// Keys of the record; nil: its content is not sealed, and cannot be erased.
	Keys Keys
	// Purge empties every cache that has content.
	Purge func()
	// Rebuild builds again what is derived from the record, and removes from the files what is no longer in it.
	Rebuild func(ctx context.Context) error
	// Scrub removes from the files what is no longer in a table.
	Scrub func(ctx context.Context) error
	// Retention returns the rules of a workspace, and the digest of the policy that has them; nil: there are none.
	Retention func(ctx context.Context, workspace string) (erasure.Retentions, string, error)
}

// Parts are what the use cases are made of.
type Parts struct {
	Ledger    ledger.Ledger
	Access    *access.Log
	Tasks     *taskstore.Store
	Memories  *memories.Store
	Artifacts *artifacts.Artifacts
	Now       func() time.Time
}

// Erasures is the use cases of erasures and holds. Its methods are safe for many goroutines.
type Erasures struct {
	kind stream.Kind[erasure.State, erasure.Event]
	p    Parts
	o    Options
	one  sync.Mutex // one erasure is made at a time
	// rests are the workspaces that wait after an erasure, and until when; under one.
	rests map[string]time.Time
	next  time.Time // before which the files are not written again for memory items; under one
	// erased counts the memory items that were forgotten and erased; under holding.
	erased int
	// retainAt is when it is looked for what is kept no longer; under one.
	retainAt time.Time
	// holding is held while a hold is set, while a memory item is forgotten, and while notes of what is pending change. It is locked after one.
	holding sync.Mutex
}

// New returns the use cases of the erasures of a ledger.
func New(p Parts, o Options) (*Erasures, error) {
	kind, err := stream.New(Kind, p.Ledger, erasure.Fold, p.Now, erasure.Events, stream.Options[erasure.State, erasure.Event]{Cached: cached, Remember: remembered})
	if err != nil {
		return nil, err
	}
	if o.Retention == nil {
		o.Retention = func(context.Context, string) (erasure.Retentions, string, error) { return nil, "", nil }
	}
	return &Erasures{kind: kind, p: p, o: o, rests: map[string]time.Time{}}, nil
}

// Erasure is what was erased.
type Erasure struct {
	N        int        `json:"n" doc:"Its number in the workspace."`
	Subject  string     `json:"subject"`
	Why      string     `json:"why"`
	By       string     `json:"by"`
	At       time.Time  `json:"at"`
	Streams  int        `json:"streams" doc:"Tasks, conversations and memory items that were erased."`
	Left     int        `json:"left" doc:"Entries with content from before the server made it erasable: they stay readable."`
	Kept     []string   `json:"kept" doc:"What else has content of the subject and was not erased with it, such as the parent of a task; at most 100."`
	Keys     int        `json:"keys" doc:"Keys that were destroyed."`
	Files    int        `json:"files" doc:"Artifacts that were deleted, since nothing else refers to them."`
	Finished *time.Time `json:"finished,omitempty" doc:"When nothing of it was left in the files of the server; absent: the server is still at it, and goes on after a restart."`
}

func of(e erasure.Erasure) Erasure {
	out := Erasure{N: e.N, Subject: e.Subject, Why: e.Why, By: e.By, At: e.At, Streams: len(e.Streams), Left: e.Left, Kept: append([]string{}, e.Kept...)}
	if e.Finished != nil {
		out.Keys, out.Files, out.Finished = e.Finished.Keys, e.Finished.Files, &e.Finished.At
	}
	return out
}

// Hold is a legal hold.
type Hold struct {
	Subject string    `json:"subject"`
	Why     string    `json:"why"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// ErasureList is the holds and erasures of a workspace.
type ErasureList struct {
	Erasable bool            `json:"erasable" doc:"Whether the content of the record is sealed, so that it can be erased."`
	Holds    []Hold          `json:"holds" doc:"Those that were not lifted, the oldest first."`
	Erasures []Erasure       `json:"erasures" doc:"The newest first; at most 1,000."`
	Position ledger.Position `json:"position" doc:"Of the entry that changed them last."`
}

// At returns the position up to which the answer is true.
func (l ErasureList) At() ledger.Position { return l.Position }

func (es *Erasures) list(s erasure.State, at ledger.Position) ErasureList {
	out := ErasureList{Erasable: es.o.Keys != nil, Holds: []Hold{}, Erasures: []Erasure{}, Position: at}
	for _, h := range s.Holds {
		out.Holds = append(out.Holds, Hold(h))
	}
	for i := len(s.Erasures) - 1; i >= 0; i-- {
		out.Erasures = append(out.Erasures, of(s.Erasures[i]))
	}
	return out
}

// HoldInput sets or lifts a legal hold.
type HoldInput struct {
	Subject string `json:"subject" minLength:"1" maxLength:"200" doc:"What is kept: task/ID with its descendants, tag/TAG for every task with the tag, subject/NAME for all that was made with the subject NAME, conversation/ID, conversation/NAME for all that are called so, or memory/ID." example:"subject/patient/4711"`
	Why     string `json:"why" minLength:"1" maxLength:"500" doc:"The reason. The record keeps it."`
}

// hold sets or lifts a hold.
func (es *Erasures) hold(ctx context.Context, c caller.Caller, verb string, in HoldInput, command func(erasure.Subject) erasure.Command) (ErasureList, error) {
	out, err := es.tryHold(ctx, c, verb, in, command)
	if err != nil {
		return ErasureList{}, es.p.Access.Refused(ctx, c.Workspace, c.Actor(), verb, in.Subject, err)
	}
	return out, nil
}

func (es *Erasures) tryHold(ctx context.Context, c caller.Caller, verb string, in HoldInput, command func(erasure.Subject) erasure.Command) (ErasureList, error) {
	if err := c.May(identity.ActAny, "change a legal hold"); err != nil {
		return ErasureList{}, err
	}
	subject, err := erasure.ParseSubject(in.Subject)
	if err != nil {
		return ErasureList{}, err
	}
	request, err := c.Digest(verb, in)
	if err != nil {
		return ErasureList{}, err
	}
	es.holding.Lock()
	defer es.holding.Unlock()
	out, err := es.kind.Do(ctx, c.Write(request), StreamOf(c.Workspace), func(s erasure.State, now time.Time) ([]erasure.Event, error) {
		return erasure.Decide(s, command(subject), now)
	})
	if err != nil {
		return ErasureList{}, err
	}
	return es.list(*out.State, out.At), nil
}

// errNotErasable is the refusal of an erasure in a record whose content is not sealed.
func errNotErasable() error {
	return refusal.New(refusal.Conflict, "start the server with --erasable: what is recorded from then on can be erased",
		"the content of this record is not sealed, so it cannot be erased")
}
