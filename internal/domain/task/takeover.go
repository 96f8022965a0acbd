package task

import (
	"fmt"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// OpenTakeover returns a takeover request that waits for an answer. Refusals: expired for one that was answered, not_found for one that was never made.
func OpenTakeover(t *Task, n int) (TakeoverRequest, error) {
	for _, a := range t.Takeovers {
		if a.N == n {
			return a, nil
		}
	}
	if n < 1 || n > t.TakeoverCount {
		return TakeoverRequest{}, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its takeover requests", "task %s has no takeover request %d", t.ID, n)
	}
	owner := "nobody owns the task"
	if t.Owner != "" {
		owner = fmt.Sprintf("%s owns the task, under epoch %d", t.Owner, t.Epoch)
	}
	return TakeoverRequest{}, refusal.New(refusal.Expired, "nothing is left to decide; [fetch the task](task show) to see its handoffs",
		"takeover request %s is over: %s", event.TakeoverID(t.ID, n), owner)
}

// AlreadyOwned is the refusal of what would make its owner the owner of the task.
func AlreadyOwned(t *Task, code refusal.Code) error {
	return refusal.New(code, "[fetch the context of the task](task context) and go on with it, under this epoch", "%s owns task %s already, under epoch %d", t.Owner, t.ID, t.Epoch)
}
