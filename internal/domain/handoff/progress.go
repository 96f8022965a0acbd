package handoff

import (
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Progress reports what the owner has done. It renews the lease and counts as work. Usage is the cost since the last
// report; the task is parked if it exceeds the budget. Usage alone, without a note, renews the lease and is no progress.
type Progress struct {
	By    identity.Principal
	Epoch uint64
	Note  string
	Usage event.Budget
}

func (c Progress) decide(t task.Task, now time.Time) ([]event.Event, error) {
	events, err := requireWorking(t, c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if err := firstError(event.CheckField("note", c.Note), refusal.In("usage", c.Usage.Check("the usage"))); err != nil {
		return nil, err
	}
	d := decision{t: t}
	h := t.InFlight()
	switch {
	case strings.TrimSpace(c.Note) != "":
		d.do(append(events, event.Progressed{Note: c.Note, Usage: c.Usage, Lease: t.LeaseFrom(now)})...)
	case c.Usage == event.Budget{}:
		return nil, refusal.New(refusal.Invalid, "say what was done, or send [a heartbeat](task heartbeat)", "progress needs a note or usage")
	case h != nil && h.Stuck:
		return nil, busy(t)
	default:
		d.do(append(events, event.LeaseRenewed{Lease: t.LeaseFrom(now), Usage: c.Usage})...)
	}
	d.parkOverspent(now)
	return d.events, nil
}

// parkOverspent parks the task if it exceeds its budget.
func (d *decision) parkOverspent(now time.Time) {
	if _, over := d.t.BudgetSpent(); over && d.t.State != event.Parked {
		d.do(park(event.ParkBudget, "overspent by "+overspent(d.t), now))
	}
}

// overspent is how much more than its budget a task has spent.
func overspent(t task.Task) string {
	left := t.Left()
	var over []string
	if t.Budget.Tokens > 0 && left.Tokens < 0 {
		over = append(over, refusal.Counted(int(-left.Tokens), "token"))
	}
	if t.Budget.Cost > 0 && left.Cost < 0 {
		over = append(over, fmt.Sprintf("%d micros of cost", -left.Cost))
	}
	return strings.Join(over, " and ")
}
