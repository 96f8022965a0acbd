package handoff

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Fail ends the task without success.
type Fail struct {
	By     identity.Principal
	Epoch  uint64
	Detail string
	Result event.Result
	Usage  event.Budget
}

func (c Fail) decide(t task.Task, now time.Time) ([]event.Event, error) {
	events, err := requireWorking(t, c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Detail) == "" {
		return nil, refusal.New(refusal.Invalid, "say what went wrong", "a failure needs a detail").With("field", "detail")
	}
	if err := firstError(event.CheckField("detail", c.Detail), refusal.In("result", c.Result.Check()), refusal.In("usage", c.Usage.Check("the usage"))); err != nil {
		return nil, err
	}
	return append(events, event.GaveUp{Agent: c.By.Agent(), Detail: c.Detail, Result: c.Result.Compact(), Usage: c.Usage, At: now}), nil
}
