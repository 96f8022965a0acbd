package tasks

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// decideComplete finishes a task if the result is what was expected. What only a judge can check goes along with the
// result. Whoever may not finish the task is told that, and nothing about the result.
func (a *App) decideComplete(t task.Task, cmd handoff.Complete, now time.Time) ([]event.Event, error) {
	cmd.Result.Review = nil
	events, err := handoff.Decide(t, cmd, now)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	review, err := a.expect.Check(t.Expected, cmd.Result)
	if err != nil || len(review) == 0 {
		return events, err
	}
	cmd.Result.Review = review
	return handoff.Decide(t, cmd, now)
}
