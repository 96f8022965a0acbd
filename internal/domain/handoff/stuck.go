package handoff

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Stuck reports that the owner is alive but not making progress: the task is offered to others at once, with the owner's
// progress. Until one of them accepts, the owner ends the recovery by progress or a result, not by a heartbeat. If nobody
// accepts, the task stays with its owner. It counts as an attempt only if the owner is replaced. One principal may report
// one owner at most event.MaxStuckReports times.
type Stuck struct {
	By     identity.Principal
	Above  bool // By owns a task above this one
	Detail string
	// Recovery lists the agents that may take over, best first; the owner is omitted.
	Recovery []event.Candidate
	Chain    string         // the escalation chain of the candidates' levels
	Passed   []event.Passed // already passed over by routing
	Envelope event.Sealed
	Hints    Hints
}

func (c Stuck) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireLive(t); err != nil {
		return nil, err
	}
	switch {
	case c.By.Agent() != "" && c.By.Agent() == t.Owner:
		return nil, refusal.New(refusal.Invalid, "[escalate the task](escalate), or [hand it off](send)", "%s owns task %s itself", c.By.Agent(), t.ID)
	case !c.By.IsOperator() && c.By.String() != t.Requester && !c.Above:
		return nil, refusal.New(refusal.NotPermitted, "ask its requester, the owner of its parent task, or an operator; or [request a takeover](takeover)",
			"%s may not report task %s as stuck", c.By.Short(), t.ID)
	case t.State == event.Pending:
		return nil, refusal.New(refusal.Conflict, "[hand it off](send)", "nobody owns task %s", t.ID)
	case t.State != event.Executing:
		return nil, busy(t)
	case t.InPerson() != nil:
		return nil, refusal.New(refusal.Conflict, "ask them, or an operator, to [release the ticket](ticket release)", "%s has taken task %s over in person, by ticket %s",
			t.Owner, t.ID, event.TicketID(t.ID, t.Ticket.N))
	}
	if err := firstError(event.CheckField("detail", c.Detail), checkStuckReports(t, c.By.Short())); err != nil {
		return nil, err
	}
	candidates := slices.DeleteFunc(event.Distinct(c.Recovery), func(k event.Candidate) bool { return k.Agent == t.Owner })
	if len(candidates) == 0 {
		return nil, noReceiver(c.Passed, "give its owner fallbacks, hand the task to somebody by name, or [request it yourself](takeover)")
	}
	d := decision{t: t}
	if !d.again(event.OwnerStuck{Agent: t.Owner, Epoch: t.Epoch, By: c.By.Short(), Detail: c.Detail, At: now}, "is stuck", now) {
		return d.events, nil
	}
	detail := t.Owner + " is stuck, says " + c.By.Short()
	if c.Detail != "" {
		detail = refusal.Clip(detail+": "+c.Detail, event.MaxText)
	}
	d.replace(replacing{candidates: candidates, chain: c.Chain, passed: c.Passed, detail: detail, by: c.By.String(), envelope: c.Envelope, stuck: true, said: true}, now)
	if passed, ok := d.offerFrom(0, nil, c.Hints, now); !ok && !d.waits(c.Hints, now) {
		return nil, noReceiver(append(slices.Clip(c.Passed), passed...), "the task stays with "+t.Owner+"; try again later, or hand it to somebody by name")
	}
	return d.events, nil
}

// checkStuckReports refuses (limit) too many reports about one owner.
func checkStuckReports(t task.Task, by string) error {
	const hint = "an operator can take the task over for somebody by name; if the owner is lost, its lease ends"
	switch n := t.StuckReportsBy(by); {
	case n >= event.MaxStuckReports:
		return refusal.New(refusal.Limit, hint, "%s has reported %d times that %s is stuck, and it still owns task %s", by, n, t.Owner, t.ID)
	case n == 0 && len(t.StuckReports) >= event.MaxStuckReporters:
		return refusal.New(refusal.Limit, hint, "%d others have reported that %s is stuck, and it still owns task %s", len(t.StuckReports), t.Owner, t.ID)
	}
	return nil
}
