package span

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// maxTasks is the number of tasks that a fold remembers.
const maxTasks = 20_000

// page is the number of entries that are read at once of a task that is not remembered.
const page = 256

// Reader reads the entries of a stream after a position, as a [ledger.Ledger] does.
type Reader func(ctx context.Context, stream ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error)

// Fold makes spans of entries. It is not safe for concurrent use.
type Fold struct {
	codec *ledger.Codec[event.Event]
	names map[string]bool // events that make spans
	read  Reader
	tasks *lru.Cache[ledger.Stream, *work]

	events []event.Event // of the entry that is folded
	spans  []Span        // that it ends; reused with their values
}

// NewFold returns a fold that reads with read what it does not remember.
func NewFold(read Reader) *Fold {
	tasks, err := lru.New[ledger.Stream, *work](maxTasks)
	if err != nil {
		panic(err) // only of a size below 1
	}
	return &Fold{codec: ledger.NewCodec(event.Events...), names: spanned(), read: read, tasks: tasks}
}

// spanned names the events that make spans: others are not decoded.
func spanned() map[string]bool {
	names := map[string]bool{}
	for _, ev := range []event.Event{
		event.Created{},
		event.Sealed{},
		event.Started{},
		event.HandoffRequested{},
		event.ApprovalAsked{},
		event.Approved{},
		event.Denied{},
		event.OfferMade{},
		event.Seen{},
		event.Acknowledged{},
		event.RejectedOffer{},
		event.OfferExpired{},
		event.Unanswered{},
		event.OfferShed{},
		event.RetryScheduled{},
		event.Confirmed{},
		event.Moved{},
		event.Returned{},
		event.LeaseLost{},
		event.OwnerStuck{},
		event.ParkedTask{},
		event.Replayed{},
		event.Spawned{},
		event.ChildEnded{},
		event.Joined{},
		event.TicketOpened{},
		event.TicketClosed{},
		event.Finished{},
		event.GaveUp{},
		event.Called{},
		event.Discarded{},
		event.Rendered{},
	} {
		names[ev.EventName()] = true
	}
	return names
}

// Add returns the spans that an entry ends, which are valid until the next call. Entries must come in the order of the ledger; of a task whose
// earlier entries did not come, those are read.
func (f *Fold) Add(ctx context.Context, e *ledger.Entry) ([]Span, error) {
	workspace, kind, id := e.Stream.Parts()
	if kind != ledger.TaskKind {
		return nil, nil
	}
	w, ok := f.tasks.Get(e.Stream)
	if w == ended {
		return nil, nil
	}
	if !ok || w.version+1 != e.Version {
		var err error
		if w, err = f.before(ctx, e, workspace, id); err != nil {
			return nil, err
		}
		f.tasks.Add(e.Stream, w)
	}
	spans, err := f.step(w, e)
	if w.over { // entries may follow, which make no spans
		f.tasks.Add(e.Stream, ended)
	}
	return spans, err
}

// ended is every task that has ended: nothing else of it is remembered.
var ended = &work{over: true}

// before returns a task as it was before an entry.
func (f *Fold) before(ctx context.Context, e *ledger.Entry, workspace, id string) (*work, error) {
	w := &work{workspace: workspace, id: id}
	for after := ledger.Position(0); w.version+1 < e.Version; {
		list, err := f.read(ctx, e.Stream, after, page)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if list[i].Position >= e.Position {
				return w, nil
			}
			if _, err := f.step(w, &list[i]); err != nil {
				return nil, err
			}
			after = list[i].Position
		}
		if len(list) == 0 {
			return w, nil
		}
	}
	return w, nil
}

// step folds an entry into its task.
func (f *Fold) step(w *work, e *ledger.Entry) ([]Span, error) {
	if w.over {
		w.version = e.Version
		return nil, nil
	}
	f.events = f.events[:0]
	s := stepping{work: w, e: e, at: mark{e.Time, e.Position}, spans: f.spans[:0]}
	for i := range e.Events {
		if !f.names[e.Events[i].Name] {
			continue
		}
		ev, err := f.decode(&e.Events[i])
		if err != nil {
			return nil, err
		}
		if sealed, ok := ev.(event.Sealed); ok {
			s.sealed(sealed.Trace)
			continue
		}
		if packed, ok := ev.(event.Rendered); ok { // a receiver that accepts at once gets it after the end of the handoff
			s.packed(packed)
		}
		f.events = append(f.events, ev)
	}
	w.version = e.Version
	for _, ev := range f.events {
		s.event(ev)
	}
	f.spans = s.spans
	return s.spans, nil
}

// endOfTrace is what follows the trace in the data of [event.Sealed]: it is before the envelope, which is not decoded.
var endOfTrace = []byte(`,"envelope":`)

func (f *Fold) decode(e *ledger.Event) (event.Event, error) {
	if !e.Decoded() && e.Name == (event.Sealed{}).EventName() {
		var s event.Sealed
		if head, _, ok := bytes.Cut(e.Data, endOfTrace); ok {
			err := json.Unmarshal(append(bytes.Clone(head), '}'), &s)
			return s, err
		}
	}
	return f.codec.Decode(*e)
}

// mark is where and when something began.
type mark struct {
	time     time.Time
	position ledger.Position
}

func (m mark) zero() bool { return m.position == 0 }

// or returns the mark, or another if it is zero.
func (m mark) or(other mark) mark {
	if m.zero() {
		return other
	}
	return m
}

// work is a task that has not ended.
type work struct {
	workspace, id string
	version       uint64 // of its newest entry
	trace         Context
	derived       bool
	begun         bool   // it has an envelope
	last          string // the traceparent of the newest envelope

	created      mark
	parent       string // task
	conversation string
	epoch        uint64
	owner        owner
	flight       *flight
	children     map[string]mark // by id
	ticket       ticket
	parked       mark
	over         bool
}

// owner is an agent that owns the task; zero: none does.
type owner struct {
	agent  string
	span   ID
	parent ID
	since  mark
}

// ticket is the ticket that is open; zero: none is.
type ticket struct {
	number int
	kind   event.TicketKind
	opened mark
}

// flight is a handoff in progress.
type flight struct {
	n                  int
	id                 string
	span               ID
	kind               event.Kind
	reason             event.Reason
	claim, recovery    bool
	from, to           string
	offer              int
	retries, tokens    int
	completeness       float64
	packed             bool
	parent             ID
	links              []Context
	asked, at          mark // the approval, the request
	offered, seen      mark
	accepted, retrying mark
	confirmed          mark
}
