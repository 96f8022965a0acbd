package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Heartbeat shows that the owner is alive. It becomes an event only when a third of the lease is over.
type Heartbeat struct {
	By    identity.Principal
	Epoch uint64
	Told  bool // the owner has what it waited for: it is recorded at once if the task has resumed
}

func (c Heartbeat) decide(t task.Task, now time.Time) ([]event.Event, error) {
	h := t.InFlight()
	if t.State == event.Waiting || h != nil && h.Stage == event.AwaitingApproval {
		return nil, authority.RequireOwner(t, c.By, c.Epoch) // no lease runs
	}
	d := decision{t: t}
	switch {
	case h != nil && h.Stuck: // the owner is alive, but not making progress
		return nil, authority.RequireOwner(t, c.By, c.Epoch)
	case h != nil && !h.Recovery: // an overdue confirmation depends on whether the source is alive
		if err := authority.RequireOwner(t, c.By, c.Epoch); err != nil {
			return nil, err
		}
	default:
		events, err := requireWorking(t, c.By, c.Epoch, now)
		if err != nil {
			return nil, err
		}
		d.do(events...)
	}
	told := c.Told && d.t.Resumed
	if left := d.t.Lease.Sub(now); told || left < time.Duration(t.Times.Lease)*2/3 {
		d.do(event.LeaseRenewed{Lease: t.LeaseFrom(now), Told: told})
	}
	return d.events, nil
}
