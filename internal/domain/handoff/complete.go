package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Complete finishes the task with a result.
type Complete struct {
	By     identity.Principal
	Epoch  uint64
	Result event.Result
	Usage  event.Budget
}

func (c Complete) decide(t task.Task, now time.Time) ([]event.Event, error) {
	events, err := requireWorking(t, c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if err := firstError(refusal.In("result", c.Result.Check()), refusal.In("usage", c.Usage.Check("the usage"))); err != nil {
		return nil, err
	}
	if limit := t.Expected.MaxBytes; limit > 0 && len(c.Result.Text)+len(c.Result.Data) > limit {
		return nil, event.TooLarge("the result", len(c.Result.Text)+len(c.Result.Data), limit)
	}
	return append(events, event.Finished{Agent: c.By.Agent(), Result: c.Result.Compact(), Usage: c.Usage, At: now}), nil
}
