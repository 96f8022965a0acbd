package handoff

import (
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// EndChild tells a parent that a child has ended, is in the dead letters (Parked), or has left them (Pending). It is safe to repeat.
type EndChild struct {
	Child  string
	State  event.State
	Result *event.Result
	Spent  event.Budget
	Tasks  int    // below it, in all generations
	Why    string // it failed, was cancelled or is in the dead letters
}

func (c EndChild) decide(t task.Task, now time.Time) ([]event.Event, error) {
	i := t.FindChild(c.Child)
	if i < 0 {
		return nil, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its handoffs", "there is no task that has the child %.64q", c.Child)
	}
	if c.State != event.Pending && c.State != event.Parked && !c.State.Final() {
		return nil, refusal.New(refusal.Invalid, "say pending, parked, completed, failed or cancelled", "a child cannot be reported as %q", c.State)
	}
	child, why := t.Children[i], quoted(c.Why)
	if child.State == c.State && child.Why == why || child.State.Final() {
		return nil, nil
	}
	awaited := t.State == event.Waiting && t.AtDesk() == nil && child.Group == t.Awaits
	d := decision{t: t}
	e := event.ChildEnded{Child: c.Child, State: c.State, Why: why, Late: !awaited, At: now}
	e.Spent = event.Budget{Tokens: max(c.Spent.Tokens, 0), Cost: max(c.Spent.Cost, 0)}
	if c.State.Final() {
		e.Tasks = min(max(c.Tasks, 0), child.Tasks)
	}
	if c.Result != nil {
		r := c.Result.Compact()
		e.Result = &r
	}
	d.do(e)
	if awaited {
		d.join(false, now)
	}
	return d.events, nil
}

// join ends the parent's wait if its fan-in is satisfied, cannot be satisfied any more, or is overdue.
func (d *decision) join(overdue bool, now time.Time) {
	var total, over, done int
	var open []string
	for _, c := range d.t.Children {
		if c.Group != d.t.Awaits {
			continue
		}
		total++
		switch {
		case c.State == event.Completed:
			over, done = over+1, done+1
		case c.State.Final():
			over++
		default:
			open = append(open, c.Task)
		}
	}
	need := total
	switch d.t.FanIn.Mode {
	case event.FanInFirst:
		need = 1
	case event.FanInQuorum:
		need = d.t.FanIn.Quorum
	case event.FanInAll, event.FanInNone:
	}
	satisfied := done >= need
	all := d.t.FanIn.Mode == event.FanInAll
	if !overdue && over < total && !satisfied && (all || done+total-over >= need) {
		return
	}
	why := fmt.Sprintf("%d of %d completed, %d needed%s", done, total, need, task.NotReached(d.t.Missed))
	if overdue && !satisfied {
		why = "the wait is over: " + why
	}
	e := event.Joined{Satisfied: satisfied, Why: why, Cancel: open, At: now}
	switch {
	case d.t.Owner != "":
		e.Lease = d.t.LeaseFrom(now)
	case !satisfied:
		d.do(park(event.ParkReturned, why, now))
		return
	default:
		e.Result = d.t.Collected()
	}
	d.do(e)
}
