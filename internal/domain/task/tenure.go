package task

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Tenure is the time in which an agent owns a task. What is remembered for the task is its own from From, the last cold handoff before, until another agent owns the
// task.
type Tenure struct {
	Agent string
	From  time.Time // zero: from the beginning
	Until time.Time // zero: it owns the task
}

// tenure begins the tenure of a new owner, and ends the one before. The oldest are forgotten, as those of the path are.
func (t *Task) tenure(agent string, at time.Time) {
	list := slices.Clone(t.Tenures[max(0, len(t.Tenures)-MaxFormer):])
	if n := len(list) - 1; n >= 0 && list[n].Until.IsZero() {
		list[n].Until = at
	}
	list = append(list, Tenure{Agent: agent, From: t.ColdAt})
	t.Tenures = list
}

// TenuresOf are the times of what a principal reads of the memory of a task: of memory items in its scope and of its conversation. None: it reads
// nothing of it. A cold handoff ends what those read that own the task after it, and the loss of the task what its former owner reads.
func TenuresOf(t *Task, principal string) (list []Tenure) {
	for _, r := range RelationsOf(t, principal) {
		switch {
		case !r.Visibility().Memory:
		case r == Requester:
			return []Tenure{{}}
		case r == Approver:
			list = append(list, Tenure{From: t.ColdAt})
		}
	}
	for _, v := range t.Tenures {
		if event.Bare(principal) == v.Agent {
			list = append(list, v)
		}
	}
	return list
}
