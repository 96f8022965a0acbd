package app

import (
	"time"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
)

// checkExpected refuses expectations that no result could be held against, or that no envelope could carry.
func (a *App) checkExpected(e fact.Expected) error {
	if err := a.expect.CheckExpected(e); err != nil || len(e.Schema) == 0 {
		return err
	}
	_, err := envelope.Canonical(e.Schema)
	return err
}

// decideComplete finishes a task if the result is what was expected. What only a judge can check goes along with the
// result. Whoever may not finish the task is told that, and nothing about the result.
func (a *App) decideComplete(t custody.Task, cmd handoff.Complete, now time.Time) ([]fact.Event, error) {
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
