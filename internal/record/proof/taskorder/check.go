package taskorder

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/order"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

const (
	readPage    = 512 // entries that are read at a time
	maxFindings = 100 // after the first of a task the others may follow from it
)

// Check reads a record and returns the entries that no rule writes, the first of each task: at most a hundred. An event that cannot be decoded is none. Errors: those of the record.
func Check(ctx context.Context, r proof.Record) ([]proof.Finding, error) { return New().Finish(ctx, r) }

// Checker compares entries in the order of the record. It implements [proof.Follower], so that a record need not be read for it alone.
type Checker struct {
	codec    *ledger.Codec[event.Event]
	at       ledger.Position // of the last entry
	live     map[ledger.Stream]*live
	ended    map[ledger.Stream]ended
	promised map[ledger.Stream]string // children that were asked for and not made yet, with their parents
	findings []proof.Finding
	skipped  []string // names of events that need not be decoded ahead, since nobody else reads the same entries
}

// New returns a checker that has compared nothing.
func New() *Checker {
	return &Checker{codec: ledger.NewCodec(event.Events...), live: map[ledger.Stream]*live{}, ended: map[ledger.Stream]ended{}, promised: map[ledger.Stream]string{}}
}

// Prepare implements [proof.Follower].
func (c *Checker) Prepare(e *ledger.Entry) {
	if isTask(e) {
		c.codec.Prepare(e, c.skipped...)
	}
}

// Add implements [proof.Follower].
func (c *Checker) Add(entries []ledger.Entry) {
	for i := range entries {
		e := &entries[i]
		if e.Position <= c.at || len(c.findings) >= maxFindings {
			continue
		}
		if c.at = e.Position; isTask(e) {
			events, err := c.events(e)
			c.entry(e, &decoded{events, err})
		}
	}
}

func isTask(e *ledger.Entry) bool { _, kind, _ := e.Stream.Parts(); return kind == ledger.TaskKind }

// Finish reads the entries after those that were added, and returns what [Check] does.
func (c *Checker) Finish(ctx context.Context, r proof.Record) (_ []proof.Finding, err error) {
	c.skipped = []string{event.Sealed{}.EventName()}
	ahead, err := proof.ReadAhead(ctx, r, c.at, c)
	if err != nil {
		return c.findings, err
	}
	defer ahead.Close()
	last, err := r.Last(ctx)
	for at := c.at; err == nil && at < last && len(c.findings) < maxFindings; {
		var page []ledger.Entry
		if page, err = ledger.Page(ctx, ahead, at, readPage); len(page) == 0 {
			break
		}
		at = page[len(page)-1].Position
	}
	return c.findings, err
}

// live is a task that has not ended.
type live struct {
	task   task.Task
	number uint64 // of its last entry
	wrong  bool   // what follows is not compared
}

// ended is what is remembered of a task after its end.
type ended struct {
	state  event.State
	number uint64
	wrong  bool
}

// decoded is the events of an entry, or why they cannot be decoded.
type decoded struct {
	events []event.Event
	err    error
}

// events decodes the events of an entry. Of an envelope only its digest matters.
func (c *Checker) events(e *ledger.Entry) ([]event.Event, error) {
	out := make([]event.Event, len(e.Events))
	for i := range e.Events {
		if e.Events[i].Name == (event.Sealed{}).EventName() {
			out[i] = event.Sealed{Digest: digest(e.Events[i].Data)}
			continue
		}
		var err error
		if out[i], err = c.codec.Decode(e.Events[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// digest is that of an envelope, by the data of its event.
func digest(data []byte) (text string) {
	for name, value := range ledger.Members(data) {
		if name == `"digest"` {
			_ = json.Unmarshal(value, &text) // another one than the task has is a finding
			break
		}
	}
	return text
}

// entry compares the next entry of a task.
func (c *Checker) entry(e *ledger.Entry, d *decoded) {
	events := d.events
	workspace, _, id := e.Stream.Parts()
	if was, is := c.ended[e.Stream]; is {
		c.late(e, was, d)
		return
	}
	l := c.live[e.Stream]
	if l == nil {
		l = &live{}
		c.live[e.Stream] = l
	}
	wrong := number(e, d, l.number)
	l.number = e.Version
	for _, ev := range events {
		if wrong == "" {
			wrong = c.family(workspace, e.Stream, ev)
		}
	}
	if w := order.Apply(&l.task, id, events...); wrong == "" {
		wrong = w
	}
	if wrong != "" && !l.wrong {
		l.wrong = true
		c.found(e, wrong)
	}
	if l.task.State.Final() {
		delete(c.live, e.Stream)
		c.ended[e.Stream] = ended{l.task.State, l.number, l.wrong}
	}
}

// late compares an entry of a task that has ended.
func (c *Checker) late(e *ledger.Entry, was ended, d *decoded) {
	wrong := number(e, d, was.number)
	for _, ev := range d.events {
		if wrong == "" {
			wrong = order.AfterTheEnd(was.state, ev)
		}
	}
	if wrong != "" && !was.wrong {
		was.wrong = true
		c.found(e, wrong)
	}
	was.number = e.Version
	c.ended[e.Stream] = was
}

// number is what is wrong with an entry by itself, or with its number in its stream.
func number(e *ledger.Entry, d *decoded, last uint64) string {
	if d.err != nil {
		return d.err.Error()
	}
	if e.Version == last+1 {
		return ""
	}
	return fmt.Sprintf("it is entry %d of its stream, after entry %d", e.Version, last)
}

// family is what is wrong with an event about another task: a child comes after its parent asked for it, and what ended has ended.
func (c *Checker) family(workspace string, own ledger.Stream, e event.Event) string {
	stream := func(id string) ledger.Stream { return ledger.StreamOf(workspace, ledger.TaskKind, id) }
	switch e := e.(type) {
	case event.Spawned:
		_, _, id := own.Parts()
		for _, child := range e.Children {
			if c.known(stream(child.Task)) {
				return fmt.Sprintf("%s of task %s, which exists", e.EventName(), child.Task)
			}
			c.promised[stream(child.Task)] = id
		}
	case event.Created:
		parent := c.promised[own]
		delete(c.promised, own)
		if parent != e.Parent.Task {
			return fmt.Sprintf("%s of a child of %.80s, which has not asked for it", e.EventName(), e.Parent.Task)
		}
	case event.ChildEnded:
		return c.hasEnded(e.EventName(), stream(e.Child), e.State)
	case event.DependencyEnded:
		return c.hasEnded(e.EventName(), stream(e.Task), e.State)
	}
	return ""
}

func (c *Checker) known(s ledger.Stream) bool {
	_, is := c.ended[s]
	return is || c.live[s] != nil
}

// hasEnded is what is wrong with the news that a task is in a state for good.
func (c *Checker) hasEnded(name string, s ledger.Stream, state event.State) string {
	if is := c.ended[s].state; state.Final() && is != state {
		_, _, id := s.Parts()
		return fmt.Sprintf("%s: task %.80s is not %s", name, id, state)
	}
	return ""
}

func (c *Checker) found(e *ledger.Entry, wrong string) {
	_, _, id := e.Stream.Parts()
	c.findings = append(c.findings, proof.Finding{Position: e.Position, What: fmt.Sprintf("no rule writes this entry of task %.80s: %s", id, wrong)})
}
