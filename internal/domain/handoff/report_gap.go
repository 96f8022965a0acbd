package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// ReportGap records that something is missing in the owner's context, for audits and metrics. The owner continues to work: a
// report renews its lease, as a [Heartbeat] does, unless the task waits. Usage is the cost since the last report.
type ReportGap struct {
	By      identity.Principal
	Epoch   uint64
	Missing []string
	Detail  string
	Usage   event.Budget
}

func (c ReportGap) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireOwner(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	if len(c.Missing) == 0 {
		return nil, refusal.New(refusal.Invalid, "name the missing fields or references", "a report of a gap needs the names of what is missing")
	}
	if err := firstError(refusal.In("missing", event.CheckMissing(c.Missing)), event.CheckField("detail", c.Detail), refusal.In("usage", c.Usage.Check("the usage"))); err != nil {
		return nil, err
	}
	d := decision{t: t}
	alive, err := Heartbeat{By: c.By, Epoch: c.Epoch}.decide(t, now)
	if err != nil && refusal.CodeOf(err) != refusal.Conflict { // no lease runs while the task waits
		return nil, err
	}
	d.do(alive...)
	if lease := d.t.LeaseFrom(now); d.t.State == event.Executing && lease.After(d.t.Lease) { // an entry is written in any case
		d.do(event.LeaseRenewed{Lease: lease})
	}
	d.do(event.GapReported{Agent: c.By.Agent(), Missing: c.Missing, Detail: c.Detail, Usage: c.Usage})
	if d.t.State == event.Executing { // an offer under way and a wait for children go on
		d.parkOverspent(now)
	}
	return d.events, nil
}
