package order

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Apply folds the events of one entry into the task with this id, and returns the first thing in them that the rules never write; "" if there is none. All of them
// are folded in any case.
func Apply(t *task.Task, id string, events ...event.Event) (wrong string) {
	confirmed := 0
	for _, e := range events {
		if wrong == "" {
			wrong = check(t, id, e, confirmed)
		}
		if c, is := e.(event.Confirmed); is {
			confirmed = c.Handoff
		}
		if t.Apply(e); wrong == "" {
			wrong = after(t, e)
		}
	}
	if wrong == "" {
		wrong = atRest(t)
	}
	return wrong
}

// check is what is wrong with the next event of a task. confirmed is the handoff that was confirmed in the same entry.
func check(t *task.Task, id string, e event.Event, confirmed int) string {
	name := e.EventName()
	if c, is := e.(event.Created); is != (t.State == task.None) {
		return name + map[bool]string{true: " of a task that exists", false: " of a task that was not created"}[is]
	} else if is {
		return unlike(name, "task", c.Task, id)
	}
	if t.State.Final() {
		return AfterTheEnd(t.State, e)
	}
	if wrong := offTheTables(t, name); wrong != "" {
		return wrong
	}
	if wrong := ofHandoff(t, e, confirmed); wrong != "" {
		return wrong
	}
	return ofTask(t, e)
}

// AfterTheEnd is what is wrong with an event of a task that ended in a state; "" if the rules may write it. Remarks, late news of children, and the packing and
// reading of what was shared follow the end of a task.
func AfterTheEnd(state event.State, e event.Event) string {
	switch e := e.(type) {
	case event.Annotated, event.GapReported, event.ShareRead, event.NoticeSeen, event.AdviceTaken:
		return ""
	case event.Rendered:
		if e.Share > 0 {
			return ""
		}
	case event.ChildEnded:
		if e.Late {
			return ""
		}
	}
	return fmt.Sprintf("%s of a task that is %s", e.EventName(), state)
}

// offTheTables is what is wrong with an event that has no edge in the tables.
func offTheTables(t *task.Task, name string) string {
	ofTask, ok := edge(task.TaskMoves, t.State, name)
	if ofTask && !ok {
		return fmt.Sprintf("%s of a task that is %s", name, t.State)
	}
	if known, _ := edge(task.HandoffMoves, task.None, name); known {
		h := t.InFlight()
		_, fits := edge(task.HandoffMoves, stage(h), name)
		switch {
		case fits:
		case h != nil:
			return fmt.Sprintf("%s of a handoff that is %s", name, h.Stage)
		case !ofTask || name == event.Moved{}.EventName() || name == event.Returned{}.EventName():
			return name + " without a handoff under way"
		}
	}
	if k := t.OpenTicket(); strings.HasPrefix(name, "ticket-") && name != (event.TicketOpened{}).EventName() {
		if k == nil {
			return name + " without an open ticket"
		}
		if _, fits := edge(task.TicketMoves, k.State, name); !fits {
			return fmt.Sprintf("%s of a ticket that is %s", name, k.State)
		}
	}
	return ""
}

func stage(h *task.Handoff) event.Stage {
	if h == nil {
		return task.None
	}
	return h.Stage
}

// edge reports whether a table has an event, and whether one of its edges leads on from a state.
func edge[S ~string](moves task.Moves[S], from S, name string) (known, ok bool) {
	of, known := moves[name]
	_, ok = of[from]
	return known, ok
}

// unlike is what is wrong if an event names another one than there is.
func unlike[T comparable](name, what string, got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%s with the %s %s, where it is %s", name, what, shown(got), shown(want))
}

func shown(v any) string {
	if s := fmt.Sprint(v); s != "" {
		return fmt.Sprintf("%.80s", s)
	}
	return "none"
}

// atRest is what is wrong with a task between two entries.
func atRest(t *task.Task) string {
	switch {
	case (t.Owner == "") != (t.Epoch == 0):
		return fmt.Sprintf("the owner is %s, and the epoch %d", shown(t.Owner), t.Epoch)
	case t.State == event.Executing && t.Owner == "":
		return "nobody owns a task that is executing"
	case (t.State == event.HandingOff) != (t.InFlight() != nil):
		return fmt.Sprintf("the task is %s, and its handoff %s", t.State, shown(stage(t.Handoff)))
	}
	return ""
}
