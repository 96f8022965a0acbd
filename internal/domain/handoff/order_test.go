package handoff

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/order"
)

// Package order is a second statement of the rules, with which a record is verified. The random stories show that it refuses nothing that the rules write, of any
// kind of event. Here each event that they have written names something else than the task has, and order refuses it.

// naming are the fields of events that name what a task has at that moment.
var naming = []string{
	"Task", "Handoff", "Offer", "Ticket", "Takeover", "Share", "Epoch", "Agent", "Owner", "From", "To", "Envelope", "Delivery", "Child", "ID",
	"Before.Owner", "Before.Epoch", "After.Owner", "After.Epoch",
}

// unnamed are those that order does not compare.
var unnamed = map[string]string{
	"claim-joined Agent":    "any agent that can do it may join",
	"envelope-shared To":    "it may be shared with any agent",
	"retry-scheduled Agent": "the rules choose it among the candidates",
	"ticket-opened To":      "the desk may have any agent or person",
}

// sight is what the random stories have had.
type sight struct {
	events  map[string]int
	tried   map[string]int  // by kind and field: how often another value was
	refused map[string]bool // and whether it was refused
}

// take counts events, and changes what they name, until that is refused.
func (s *sight) take(t task.Task, id string, events []event.Event) {
	for i, e := range events {
		s.events[e.EventName()]++
		for _, field := range naming {
			what := e.EventName() + " " + field
			if s.refused[what] || s.tried[what] >= 40 {
				continue
			}
			if other, ok := otherwise(events, i, field); ok {
				was := deepCopy(t)
				s.tried[what]++
				s.refused[what] = order.Apply(&was, id, other...) != ""
			}
		}
	}
}

// otherwise is events with another value in a field of one of them; false: it has no such field, or it is empty.
func otherwise(events []event.Event, i int, field string) ([]event.Event, bool) {
	e := reflect.New(reflect.TypeOf(events[i])).Elem()
	e.Set(reflect.ValueOf(events[i]))
	at := e
	for name := range strings.SplitSeq(field, ".") {
		if at.Kind() != reflect.Struct {
			return nil, false
		}
		if at = at.FieldByName(name); !at.IsValid() || at.IsZero() {
			return nil, false
		}
	}
	switch at.Kind() {
	case reflect.String:
		at.SetString(at.String() + "x")
	case reflect.Int:
		at.SetInt(at.Int() + 7)
	case reflect.Uint64:
		at.SetUint(at.Uint() + 7)
	default:
		return nil, false
	}
	out := slices.Clone(events)
	out[i], _ = e.Interface().(event.Event)
	return out, true
}

// check fails if order lets an event name something else, or refuses what it is said not to compare.
func (s *sight) check(t *testing.T) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(s.refused)) {
		if why, free := unnamed[what]; s.refused[what] == free {
			t.Errorf("%s: another one is refused: %t; said not to be compared: %t %s", what, s.refused[what], free, why)
		}
	}
	for what := range unnamed {
		if _, ok := s.refused[what]; !ok {
			t.Errorf("%s: no story had one", what)
		}
	}
}
