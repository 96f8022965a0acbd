package task

import (
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// PathSoFar is the path with the present visit ended.
func (t *Task) PathSoFar() []event.Visit {
	path := slices.Clone(t.Path)
	if n := len(path); n > 0 && path[n-1].Marks < 0 {
		path[n-1].Marks = t.Marks
	}
	return path
}

// CountedSoFar is [Counted] with the present visit ended.
func CountedSoFar(t *Task) []event.Visit { return t.PathSoFar()[min(t.Replayed, len(t.Path)):] }

// Counted is the part of the path that the limits count: the visits since the last replay, with that of the owner that it gave the task back to.
func Counted(t *Task) []event.Visit { return t.Path[min(t.Replayed, len(t.Path)):] }

// countFromHere begins the limits of the path again, and forgets the oldest visits if there are too many.
func (t *Task) countFromHere() {
	path := slices.Clone(t.Path)
	t.Replayed = len(path)
	if n := len(path) - 1; n >= 0 && t.Owner != "" {
		t.Replayed, path[n].Marks = n, -1
	}
	cut := max(0, t.Replayed-MaxFormer)
	t.Path, t.Replayed, t.Before = path[cut:], t.Replayed-cut, max(0, t.Before-cut)
}

// OwnPath is the path of a task without the visits of its parents.
func OwnPath(t *Task) []event.Visit { return t.Path[min(t.Before, len(t.Path)):] }

// Barred is the reason why an agent can get neither the task nor a child of it, or "", and whether it is that the agent
// would close a loop.
func (t *Task) Barred(agent string, newWork bool) (why string, closes bool) {
	if agent != "" && agent == t.Owner {
		return "is the source", false
	}
	why = t.Loop(agent, newWork)
	return why, why != ""
}

// Loop is the reason why an agent must not own the task once more, or "". A new visit is allowed after progress, a decision
// or a result since the last one, up to the visits limit.
func (t *Task) Loop(agent string, newWork bool) string {
	visits, last := t.Visits(agent)
	switch {
	case visits == 0:
		return ""
	case visits >= t.Limits.Visits:
		return fmt.Sprintf("visits limit %d reached by %s", t.Limits.Visits, agent)
	case !newWork && last == t.Marks:
		return fmt.Sprintf("cycle: back to %s without progress, decision or result since", agent)
	}
	return ""
}

// Visits counts how often agent has owned the task since its last replay, and says what the task's marks were when it last let go.
func (t *Task) Visits(agent string) (n, marks int) {
	for _, v := range Counted(t) {
		if v.Agent == agent {
			n, marks = n+1, v.Marks
		}
	}
	return n, marks
}
