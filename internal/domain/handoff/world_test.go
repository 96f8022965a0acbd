package handoff

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/order"
)

// What every test of this package shares: a moment, some names, and the rules in a form that a test can bend.

var t0 = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// taskID makes the n-th id of the tests.
func taskID(n int) string { return fmt.Sprintf("task_%026d", n) }

func agent(name string) identity.Principal {
	return identity.Principal{Role: identity.Agent, Name: name}
}

func operator(name string) identity.Principal {
	return identity.Principal{Role: identity.Operator, Name: name}
}

var system = identity.Principal{Role: identity.System, Name: "courier"}

// nextEnvelope is an envelope that follows the task's newest one.
func nextEnvelope(t task.Task) event.Sealed {
	n, _ := strconv.Atoi(strings.TrimPrefix(t.Envelope, "sha256:")) // 0 if there is none
	return event.Sealed{Digest: "sha256:" + strconv.Itoa(n+1), Parent: t.Envelope, Bytes: []byte(`{}`)}
}

// rendition is what the packing of an envelope came to.
func rendition(source string) event.Rendered {
	return event.Rendered{
		Source: source, Digest: source + "-packed", Parent: source, Bytes: []byte(`{}`), Tokens: 10, Budget: 20, Utilisation: 0.5, Completeness: 1,
	}
}

// given is the envelope that a share has, or the newest handoff.
func given(t task.Task, share int) string {
	for _, s := range t.Shares {
		if s.N == share {
			return s.Envelope
		}
	}
	if t.Handoff != nil {
		return t.Handoff.Envelope
	}
	return ""
}

func targets(names ...string) []event.Candidate { return tier(event.TierTarget, names...) }

func tier(t event.Tier, names ...string) []event.Candidate {
	var out []event.Candidate
	for _, n := range names {
		out = append(out, event.Candidate{Agent: n, Tier: t})
	}
	return out
}

// rules is Decide and Fold, or bent versions of them.
type rules struct {
	decide func(task.Task, Command, time.Time) ([]event.Event, error)
	fold   func(task.Task, event.Event) task.Task
}

var realRules = rules{decide: Decide, fold: task.Fold}

// apply decides and folds, and checks what must hold of every decision: a refusal is a proper one and comes without
// events, and every event has an edge in the tables or leaves state and stage alone.
func (r rules) apply(t task.Task, c Command, now time.Time) (task.Task, []event.Event, error) {
	events, refused := r.decide(t, c, now)
	if refused != nil {
		if err := properRefusal(refused); err != nil {
			return t, nil, fmt.Errorf("%T: %w", c, err)
		}
		if len(events) > 0 {
			return t, nil, fmt.Errorf("%T was refused and still made %d events", c, len(events))
		}
		return t, nil, nil
	}
	for _, e := range events {
		before := t
		t = r.fold(t, e)
		if err := onTable(before, e, t); err != nil {
			return t, events, fmt.Errorf("%T: %w", c, err)
		}
	}
	return t, events, nil
}

// inOrder checks that a verifier of records finds nothing in what the rules have written.
func inOrder(t task.Task, id string, events []event.Event) error {
	if wrong := order.Apply(&t, id, events...); wrong != "" {
		return fmt.Errorf("%v: the rules have written what they are said never to write: %s", eventNames(events), wrong)
	}
	return nil
}

// properRefusal wants a code from the closed set, a message, and a hint.
func properRefusal(err error) error {
	r, ok := refusal.As(err)
	switch {
	case !ok:
		return fmt.Errorf("%w (%T) is not a refusal", err, err)
	case !r.Code.Valid() || r.Message == "" || r.Hint == "":
		return fmt.Errorf("refusal without a known code, a message or a hint: %w", r)
	}
	return nil
}

// onTable checks one event against both tables.
func onTable(before task.Task, e event.Event, after task.Task) error {
	name := e.EventName()
	if !slices.Contains(event.States.Values(), after.State) {
		return fmt.Errorf("%s leads to %q, which is no state", name, after.State)
	}
	moves := slices.ContainsFunc(task.TaskTable, func(k task.Edge[event.State]) bool { return k.Event == name })
	edge := slices.ContainsFunc(task.TaskTable, func(k task.Edge[event.State]) bool {
		return k.From == before.State && k.Event == name && k.To == after.State
	})
	if moves && !edge || !moves && before.State != after.State {
		return fmt.Errorf("no edge %q --%s--> %q in TaskTable", before.State, name, after.State)
	}
	if from, to := ticketState(before, after), ticketState(after, after); from != to &&
		!slices.Contains(task.TicketTable, task.Edge[event.TicketState]{From: from, Event: name, To: to, When: whenTicket(from, name, to)}) {
		return fmt.Errorf("no edge %q --%s--> %q in TicketTable", from, name, to)
	}
	return stageOnTable(before, name, after)
}

// ticketState is the state of the ticket that the task has after an event.
func ticketState(t, after task.Task) event.TicketState {
	if t.Ticket == nil || after.Ticket == nil || t.Ticket.N != after.Ticket.N {
		return task.None
	}
	return t.Ticket.State
}

// whenTicket is what the table says of an edge.
func whenTicket(from event.TicketState, event string, to event.TicketState) string {
	for _, e := range task.TicketTable {
		if e.From == from && e.Event == event && e.To == to {
			return e.When
		}
	}
	return "no such edge"
}

func stageOnTable(before task.Task, name string, after task.Task) error {
	from, to := stageOf(before), stageOf(after)
	if name == "handoff-request" {
		if h := before.InFlight(); h != nil {
			return fmt.Errorf("a handoff is requested while handoff %d is %s", h.N, h.Stage)
		}
		from = task.None
	}
	moves := slices.ContainsFunc(task.HandoffTable, func(k task.Edge[event.Stage]) bool { return k.Event == name })
	edge := slices.ContainsFunc(task.HandoffTable, func(k task.Edge[event.Stage]) bool { return k.From == from && k.Event == name && k.To == to })
	ofTask := slices.ContainsFunc(task.TaskTable, func(k task.Edge[event.State]) bool { return k.Event == name }) && name != "handoff-request" &&
		name != "handoff-complete" && name != "handoff-returned"
	switch {
	case ofTask && (from == task.None || from.Final()):
		moves = false // the end of a task that had no handoff under way
	case moves && !edge:
		return fmt.Errorf("no edge %q --%s--> %q in HandoffTable", from, name, to)
	}
	if !moves && from != to {
		return fmt.Errorf("%s moves the handoff from %q to %q, off the table", name, from, to)
	}
	return nil
}

func stageOf(t task.Task) event.Stage {
	if t.Handoff == nil {
		return task.None
	}
	return t.Handoff.Stage
}

// deepCopy shares nothing with v.
func deepCopy[T any](v T) T {
	out := reflect.New(reflect.TypeOf(v)).Elem()
	copyInto(out, reflect.ValueOf(v))
	return out.Interface().(T)
}

func copyInto(dst, src reflect.Value) {
	switch src.Kind() {
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			copyInto(dst.Elem(), src.Elem())
		}
	case reflect.Slice:
		if !src.IsNil() {
			dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
			for i := range src.Len() {
				copyInto(dst.Index(i), src.Index(i))
			}
		}
	case reflect.Struct:
		dst.Set(src) // unexported fields: those of time.Time
		if src.Type() != reflect.TypeFor[time.Time]() {
			for i := range src.NumField() {
				copyInto(dst.Field(i), src.Field(i))
			}
		}
	default:
		dst.Set(src)
	}
}

// eventNames is what happened, for messages.
func eventNames(events []event.Event) []string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = e.EventName()
	}
	return names
}
