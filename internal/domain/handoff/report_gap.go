package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// ReportGap records that something is missing in the owner's context, for audits and metrics. The owner continues to work.
type ReportGap struct {
	By      identity.Principal
	Epoch   uint64
	Missing []string
	Detail  string
}

func (c ReportGap) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := requireOwner(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	if len(c.Missing) == 0 {
		return nil, refusal.New(refusal.Invalid, "name the missing fields or references", "a report of a gap needs the names of what is missing")
	}
	if err := firstError(event.CheckMissing(c.Missing), event.CheckText("the detail", c.Detail, event.MaxText)); err != nil {
		return nil, err
	}
	return []event.Event{event.GapReported{Agent: c.By.Agent(), Missing: c.Missing, Detail: c.Detail}}, nil
}
