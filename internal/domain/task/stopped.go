package task

import "github.com/trapezehq/trapeze/internal/domain/event"

// onUnsent keeps, for the agent that the task is replayed to, what was given with a send that could not begin. What it said to others than the next owner is not
// said to the owner; of one that was cold, the task is as it was.
func (t *Task) onUnsent(u *event.Unsent) {
	switch {
	case u == nil:
		return
	case u.Kind == event.Cold:
		t.asBefore(u.Envelope)
	case u.Kind == event.Delegation || u.Kind == event.Broadcast:
		t.askedElsewhere(u.Envelope)
	}
}
