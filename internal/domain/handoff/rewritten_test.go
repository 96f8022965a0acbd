package handoff

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// changed rewrites the events of every decision.
func changed(rewrite func(task.Task, []event.Event) []event.Event) rules {
	return rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		events, err := Decide(t, c, now)
		return rewrite(t, events), err
	}}
}

// each rewrites events one by one.
func each(rewrite func(task.Task, event.Event) event.Event) rules {
	return changed(func(t task.Task, events []event.Event) []event.Event {
		out := slices.Clone(events)
		for i, e := range out {
			out[i] = rewrite(t, e)
		}
		return out
	})
}
