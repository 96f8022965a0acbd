package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// The invariants of doc.go, written down a second time and independently of the rules.

// sound is what must hold of every task at rest, between two decisions.
func sound(t task.Task) error {
	for _, check := range []func(task.Task) error{ownership, oneTransfer, withinLimits, notStranded, clocksRun, funded, familyBound, packed, peopleAsked, notLost, addsUp} {
		if err := check(t); err != nil {
			return err
		}
	}
	return nil
}

func ownership(t task.Task) error {
	switch {
	case (t.Owner == "") != (t.Epoch == 0):
		return fmt.Errorf("owner %q has epoch %d", t.Owner, t.Epoch)
	case t.State == event.Executing && t.Owner == "":
		return fmt.Errorf("an executing task has no owner")
	case t.State == event.Pending && t.Owner != "":
		return fmt.Errorf("a pending task is owned by %s", t.Owner)
	}
	for i, v := range t.Path {
		present := i == len(t.Path)-1 && t.Owner != ""
		if present && v.Agent != t.Owner || present != (v.Marks < 0) {
			return fmt.Errorf("the path %v does not end at the owner %q", t.Path, t.Owner)
		}
	}
	return nil
}

func oneTransfer(t task.Task) error {
	if (t.State == event.HandingOff) != (t.InFlight() != nil) {
		return fmt.Errorf("task %s with handoff %+v", t.State, t.InFlight())
	}
	if h := t.Handoff; h != nil && h.Stage.Final() {
		if h.Ended.IsZero() || !h.RetryAt.IsZero() || !h.OfferEnds.IsZero() || !h.AckEnds.IsZero() || !h.ApprovalEnds.IsZero() || !h.ConfirmEnds.IsZero() {
			return fmt.Errorf("a handoff that is %s still has a clock: %+v", h.Stage, h)
		}
	}
	return nil
}

func withinLimits(t task.Task) error {
	u, l := t.Used, t.Limits
	if t.Exists() && (u.Hops > l.Hops || u.Handoffs-u.Base > l.Handoffs || u.Escalations > l.Escalations || u.Attempts > l.Attempts) {
		return fmt.Errorf("used %+v of %+v", u, l)
	}
	if len(t.StuckReports) > event.MaxStuckReporters || slices.ContainsFunc(t.StuckReports, func(w task.StuckReport) bool { return w.Times > event.MaxStuckReports }) {
		return fmt.Errorf("too many words: %+v", t.StuckReports)
	}
	visits := map[string]int{}
	for _, v := range task.Counted(&t) {
		visits[v.Agent]++
		if visits[v.Agent] > l.Visits+u.Attempts { // a recovery may come back to the same agent
			return fmt.Errorf("%s visited more than %d times: %v", v.Agent, l.Visits, t.Path)
		}
	}
	return nil
}

// notStranded is invariant 6: somebody or some clock stands behind every task that is not over.
func notStranded(t task.Task) error {
	h := t.InFlight()
	switch {
	case t.State == event.Parked && (t.Parked == nil || t.Parked.Cause == "" || t.Parked.Detail == ""):
		return fmt.Errorf("parked without a reason: %+v", t.Parked)
	case t.State == event.Waiting && atDesk(t):
		return nil
	case t.State == event.Waiting && !slices.ContainsFunc(t.Children, func(c task.Child) bool { return c.Group == t.Awaits && !c.State.Final() }):
		return fmt.Errorf("waiting for nobody: %+v", t.Children)
	case h == nil:
		return nil
	case h.Stage == event.Requested && h.RetryAt.IsZero(), h.Stage == event.AwaitingApproval && h.ApprovalEnds.IsZero(),
		h.Stage == event.Offered && (len(h.To) == 0 || h.OfferEnds.IsZero() && h.AckEnds.IsZero()),
		h.Stage == event.Accepted && (h.Receiver == "" || h.ConfirmEnds.IsZero()):
		return fmt.Errorf("a handoff that is %s has no receiver or no clock: %+v", h.Stage, h)
	}
	return nil
}

// notLost is the mission: a task that has not ended has a clock, an owner whose lease runs, people or children that it waits for, or
// it lies where a person looks. It does not use [task.Task.Due]. A draft that its requester has not handed off yet is the
// requester's own.
func notLost(t task.Task) error {
	h, k := t.InFlight(), t.OpenTicket()
	children := func(c task.Child) bool { return c.Group == t.Awaits && !c.State.Final() }
	draft := t.Handoff == nil && t.WasParked == nil && t.Ticket == nil // its requester made it; a child and its offer are one entry
	took := t.Handoff != nil && t.Handoff.Stage == event.Withdrawn || t.Ticket != nil && t.Ticket.Outcome == event.TicketWithdrawn
	person := t.Parent.Task == "" && !strings.HasPrefix(t.Requester, "agent/") && (t.Resumed || took) // in the inbox of the operators, or taken back by one
	var stands bool
	switch t.State {
	case event.Executing:
		stands = t.Owner != "" && !t.Lease.IsZero()
	case event.HandingOff:
		stands = h != nil && slices.ContainsFunc([]time.Time{h.RetryAt, h.OfferEnds, h.AckEnds, h.ApprovalEnds, h.ConfirmEnds}, func(c time.Time) bool { return !c.IsZero() })
	case event.Waiting:
		stands = k != nil && !k.Due.IsZero() || k == nil && slices.ContainsFunc(t.Children, children)
	case event.Pending:
		stands = !t.TakeUpBy.IsZero() || draft || person || len(t.Unmet()) > 0 // whose ends it hears of
	case event.Parked: // operators look there
		stands = t.Parked != nil
	default:
		stands = true
	}
	if !stands {
		return fmt.Errorf("lost: task %s of %s, owner %q, resumed %v, handoff %+v, ticket %+v, children %+v", t.State, t.Requester, t.Owner, t.Resumed, h, k, t.Children)
	}
	return nil
}

func clocksRun(t task.Task) error {
	switch {
	case t.State == event.Executing && t.Lease.IsZero():
		return fmt.Errorf("the owner %s has no lease", t.Owner)
	case t.State == event.Waiting && !t.Lease.IsZero():
		return fmt.Errorf("a lease runs while the task waits")
	case (t.State.Final() || t.State == event.Parked) && !t.Due().IsZero():
		return fmt.Errorf("a task that is %s has a clock: %s", t.State, t.Due())
	case t.State.Final() && t.Ended.IsZero():
		return fmt.Errorf("a task that is %s has no end", t.State)
	}
	return nil
}

func funded(t task.Task) error {
	var reserved event.Budget
	for _, c := range t.Children {
		if !c.State.Final() {
			reserved = reserved.Plus(c.Budget)
		}
	}
	if reserved != t.Reserved || t.Spent.Tokens < 0 || t.Spent.Cost < 0 {
		return fmt.Errorf("reserved %+v, held by children %+v, spent %+v", t.Reserved, reserved, t.Spent)
	}
	return nil
}

// familyBound: no more tasks come of one than may, and none that has come is forgotten.
func familyBound(t task.Task) error {
	n := 0
	for _, c := range t.Children {
		if n += 1 + c.Tasks; c.Tasks < 0 {
			return fmt.Errorf("child %s may make %d tasks", c.Task, c.Tasks)
		}
	}
	if n > t.Used.Tasks || t.Used.Tasks > t.Limits.Tasks {
		return fmt.Errorf("tasks: %d come of the children, %d are used, %d may come in all", n, t.Used.Tasks, t.Limits.Tasks)
	}
	return nil
}

// packed is what the owner holds: what it was packed or else sealed for it, and only an owner holds anything.
func packed(t task.Task) error {
	h := t.Handoff
	switch {
	case t.Owner == "" && t.Held != "":
		return fmt.Errorf("nobody owns the task, and %s is held", t.Held)
	case h == nil || h.Stage != event.Transferred:
		return nil
	case t.Owner != h.Receiver:
		return fmt.Errorf("handoff %d went to %s, and %s owns the task", h.N, h.Receiver, t.Owner)
	case h.Rendition != "" && t.Held != h.Rendition, h.Rendition == "" && t.Held != h.Envelope:
		return fmt.Errorf("%s holds %s, of %s rendered as %s", t.Owner, t.Held, h.Envelope, h.Rendition)
	}
	return nil
}

// lawful is what must hold of the way from one task to the next.
func lawful(before task.Task, c Command, events []event.Event, after task.Task) error {
	for _, check := range []func(task.Task, Command, []event.Event, task.Task) error{entitled, ownerMoves, tightens, endsForGood, forItsReceiver, byPeople, climbsOn, noticed} {
		if err := check(before, c, events, after); err != nil {
			return err
		}
	}
	return nil
}

// entitled is invariant 1 for the principal that gives a command.
func entitled(before task.Task, c Command, events []event.Event, _ task.Task) error {
	switch c := c.(type) {
	case Stuck:
		if len(events) > 0 && (c.By.Agent() != "" && c.By.Agent() == before.Owner || !c.By.IsOperator() && c.By.String() != before.Requester && !c.Above) {
			return fmt.Errorf("%s said that the task of %s is stuck", c.By.String(), before.Owner)
		}
	case Shed:
		if len(events) > 0 && !c.By.IsOperator() && !c.By.IsSystem() && c.By.Agent() != c.Agent {
			return fmt.Errorf("%s shed an offer to %s", c.By.String(), c.Agent)
		}
	}
	by, epoch, strict := credentials(c)
	if len(events) == 0 || by.IsZero() {
		return nil
	}
	owner := before.Owner != "" && by.Agent() == before.Owner && epoch == before.Epoch
	source := before.Owner == "" && by.String() == before.Requester || by.IsOperator() || by.IsSystem()
	_, constrains := c.(Constrain)
	requester := constrains && by.String() == before.Requester && (epoch == 0 || epoch == before.Epoch)
	if !owner && (strict || !source) && !requester {
		return fmt.Errorf("%s with epoch %d made %v; the owner is %q with epoch %d", by.String(), epoch, eventNames(events), before.Owner, before.Epoch)
	}
	if (by.IsOperator() || by.IsSystem()) && epoch != 0 && epoch != before.Epoch {
		return fmt.Errorf("%s named epoch %d, and it is %d", by.String(), epoch, before.Epoch)
	}
	return nil
}

// credentials are who gives a command, and whether only the owner may; none for commands that others give.
func credentials(c Command) (by identity.Principal, epoch uint64, strict bool) {
	switch c := c.(type) {
	case Heartbeat:
		return c.By, c.Epoch, true
	case Ask:
		return c.By, c.Epoch, true
	case WithdrawTicket:
		return c.By, c.Epoch, false
	case Progress:
		return c.By, c.Epoch, true
	case Complete:
		return c.By, c.Epoch, true
	case Fail:
		return c.By, c.Epoch, true
	case Send:
		return c.By, c.Epoch, false
	case Spawn:
		return c.By, c.Epoch, false
	case Confirm:
		return c.By, c.Epoch, false
	case Withdraw:
		return c.By, c.Epoch, false
	case Constrain:
		return c.By, c.Epoch, false
	case ApproveTakeover:
		return c.By, c.Epoch, false
	case DenyTakeover:
		return c.By, c.Epoch, false
	case Share:
		return c.By, c.Epoch, false
	}
	return identity.Principal{}, 0, false
}

// ownerMoves is invariant 3: the owner changes only where a handoff was accepted and confirmed, or a requester starts.
func ownerMoves(before task.Task, _ Command, events []event.Event, after task.Task) error {
	t, confirmed := before, 0
	for _, e := range events {
		next := task.Fold(t, e)
		switch e := e.(type) {
		case event.Confirmed:
			confirmed = e.Handoff
		case event.Moved:
			if h := t.Handoff; h == nil || h.Stage != event.Accepted || h.Receiver != e.To || confirmed != h.N || e.Epoch != t.Epoch+1 {
				return fmt.Errorf("ownership moved without acceptance and confirm: %+v", e)
			}
		case event.Started:
			if t.Owner != "" {
				return fmt.Errorf("%s started a task of %s", e.Agent, t.Owner)
			}
		default:
			if next.Owner != t.Owner || next.Epoch != t.Epoch {
				return fmt.Errorf("%s changed the owner", e.EventName())
			}
		}
		t = next
	}
	if after.Epoch < before.Epoch {
		return fmt.Errorf("the epoch fell from %d to %d", before.Epoch, after.Epoch)
	}
	return nil
}

// climbsOn: no decision takes a task back down the chain that it has climbed, but a replay, which starts over.
func climbsOn(before task.Task, c Command, events []event.Event, after task.Task) error {
	_, replay := c.(Replay)
	_, several := c.(Sequence)
	if b, a := before.Chain, after.Chain; a.Chain == b.Chain && a.Level < b.Level && !replay && !several {
		return fmt.Errorf("%v took the task from level %d of the chain %s to %d", eventNames(events), b.Level, b.Chain, a.Level)
	}
	if after.Chain.Level > 0 && after.Handoff == nil {
		return fmt.Errorf("level %d without a handoff", after.Chain.Level)
	}
	return nil
}

// lifts reports whether a command may lift a constraint, or a part of it.
func lifts(before task.Task, c Command, k event.Constraint) bool {
	lift, ok := c.(Lift)
	if lift.By.IsSystem() {
		return k.Inherited && lift.Parent.By != ""
	}
	by := lift.By.String()
	if lift.TightenedBy == "" {
		return ok && lift.ID == k.ID && (lift.By.IsOperator() || by == k.Origin || by == before.Requester && k.Added && !k.Inherited)
	}
	added := strings.HasPrefix(lift.TightenedBy, "agent/") && lift.TightenedBy != before.Requester
	return ok && lift.ID == k.ID && (lift.By.IsOperator() || by == lift.TightenedBy || added && (by == cmp.Or(k.TextBy, k.Origin) || by == before.Requester))
}

// addsUp: what binds is what its setter and those that tightened it ask for together, and nobody's part is forgotten.
func addsUp(t task.Task) error {
	for i, k := range t.Constraints {
		r := task.RuleAt(&t, i)
		if all := r.Constraint(); !all.Equal(k) || all.Origin != k.Origin || !k.Tightens(r.Base) {
			return fmt.Errorf("constraint %+v is not the sum of %+v", k, r)
		}
	}
	for _, r := range t.Rules {
		if t.FindConstraint(r.Base.ID) < 0 || len(r.Layers) == 0 {
			return fmt.Errorf("a rule without constraint or layers: %+v", r)
		}
	}
	return nil
}

// tightens is invariant 5, for constraints, permissions and budgets.
func tightens(before task.Task, c Command, events []event.Event, after task.Task) error {
	if !before.Exists() {
		return nil
	}
	for _, k := range before.Constraints {
		i := after.FindConstraint(k.ID)
		if i >= 0 && after.Constraints[i].Tightens(k) {
			continue
		}
		if !lifts(before, c, k) {
			return fmt.Errorf("constraint %+v was loosened by %v", k, eventNames(events))
		}
		if base := task.RuleAt(&before, before.FindConstraint(k.ID)).Base; i >= 0 && !base.Inherited && !after.Constraints[i].Tightens(base) {
			return fmt.Errorf("lifting a part took constraint %+v to %+v, below what its setter asked for", base, after.Constraints[i])
		}
	}
	if before.Permissions != nil && (after.Permissions == nil ||
		slices.ContainsFunc(after.Permissions, func(p string) bool { return !slices.Contains(before.Permissions, p) })) {
		return fmt.Errorf("permissions widened from %v to %v", before.Permissions, after.Permissions)
	}
	replay, _ := c.(Replay)
	raise, _ := c.(RaiseBudget)
	raises := raise.Child == "" && (raise.By.IsOperator() || raise.Reserved || before.Parent.Task == "" && raise.By.String() == before.Requester) &&
		after.Budget.Tokens >= before.Budget.Tokens && after.Budget.Cost >= before.Budget.Cost
	if before.Budget != after.Budget && !replay.By.IsOperator() && !raises {
		return fmt.Errorf("the budget went from %+v to %+v", before.Budget, after.Budget)
	}
	for _, e := range events {
		if e, ok := e.(event.Spawned); ok {
			return narrower(before, e)
		}
	}
	return nil
}

// narrower is what children may have, of budget, tasks and permissions.
func narrower(parent task.Task, e event.Spawned) error {
	var sum event.Budget
	left, tasks := parent.Budget.Minus(parent.Spent).Minus(parent.Reserved), 0
	for _, c := range e.Children {
		sum, tasks = sum.Plus(c.Budget), tasks+1+c.Tasks
		if parent.Budget.Tokens > 0 && c.Budget.Tokens <= 0 || parent.Budget.Cost > 0 && c.Budget.Cost <= 0 {
			return fmt.Errorf("child %s of a task with the budget %+v has no limit: %+v", c.Task, parent.Budget, c.Budget)
		}
	}
	if tasks > parent.Limits.Tasks-parent.Used.Tasks {
		return fmt.Errorf("tasks: %d are made or promised, of %d with %d used", tasks, parent.Limits.Tasks, parent.Used.Tasks)
	}
	if parent.Budget.Tokens > 0 && sum.Tokens > left.Tokens || parent.Budget.Cost > 0 && sum.Cost > left.Cost {
		return fmt.Errorf("the children get %+v, and %+v is left", sum, left)
	}
	if parent.Permissions != nil && (e.Permissions == nil ||
		slices.ContainsFunc(e.Permissions, func(p string) bool { return !slices.Contains(parent.Permissions, p) })) {
		return fmt.Errorf("the children get the permissions %v of %v", e.Permissions, parent.Permissions)
	}
	return nil
}

// endsForGood: what is over stays over. Annotations, late news of children, and the packing and reading of what was
// shared, and the reading of notices, are recorded.
func endsForGood(before task.Task, _ Command, events []event.Event, _ task.Task) error {
	if !before.State.Final() {
		return nil
	}
	for _, e := range events {
		switch e := e.(type) {
		case event.Annotated, event.GapReported, event.ShareRead, event.NoticeSeen, event.AdviceTaken:
		case event.Rendered:
			if e.Share == 0 {
				return fmt.Errorf("a handoff's envelope was packed after the task was %s", before.State)
			}
		case event.ChildEnded:
			if !e.Late {
				return fmt.Errorf("a child's end is not late though the task is %s", before.State)
			}
		default:
			return fmt.Errorf("%s after the task was %s", e.EventName(), before.State)
		}
	}
	return nil
}

// forItsReceiver: an envelope is packed for whom it was given to and nobody else, once.
func forItsReceiver(before task.Task, _ Command, events []event.Event, after task.Task) error {
	t, offered, newest := before, false, ""
	for _, e := range events {
		switch e := e.(type) {
		case event.OfferMade:
			offered, newest = true, ""
		case event.Rendered:
			if err := wasGiven(t, e); err != nil {
				return err
			}
			if e.Share == 0 {
				newest = e.Digest
			}
		}
		t = task.Fold(t, e)
	}
	if offered && after.Handoff.Rendition != newest {
		return fmt.Errorf("a new offer goes with what was packed for another: %s", after.Handoff.Rendition)
	}
	return nil
}

func wasGiven(t task.Task, e event.Rendered) error {
	var to []string
	var source, has string
	if e.Share > 0 {
		s := t.Shares[e.Share-1]
		to, source, has = []string{s.To}, s.Envelope, s.Rendition
	} else if h := t.Handoff; h != nil {
		to, source, has = h.To, h.Envelope, h.Rendition
		if h.Stage != event.Offered {
			to = []string{h.Receiver}
		}
		if h.N != e.Handoff || h.Offer != e.Offer || h.OpenClaim() {
			to = nil
		}
	}
	if len(to) != 1 || to[0] != e.Agent || source != e.Source || has != "" {
		return fmt.Errorf("packed was %+v; given was %s to %v, which has the rendition %q", e, source, to, has)
	}
	return nil
}

// ticks checks the timer: never early, never idle when due, and at rest after a bounded number of ticks.
func ticks(r rules, t task.Task, tick Tick, now time.Time) (task.Task, []event.Event, error) {
	var all []event.Event
	for range 100 {
		was := t.Due()
		isDue := !was.IsZero() && !was.After(now)
		next, events, err := r.apply(t, tick, now)
		if err == nil {
			err = lawful(t, tick, events, next)
		}
		switch {
		case err != nil:
			return t, all, err
		case !isDue && len(events) > 0:
			return t, all, fmt.Errorf("a tick at %s, due at %s, made %v", now, was, eventNames(events))
		case isDue && len(events) == 0:
			return t, all, fmt.Errorf("a tick at %s, due at %s, did nothing: the timer spins", now, was)
		case !isDue:
			return t, all, nil
		}
		t, all = next, append(all, events...)
		if err := sound(t); err != nil {
			return t, all, fmt.Errorf("after %v: %w", eventNames(events), err)
		}
	}
	return t, all, fmt.Errorf("100 ticks at %s do not come to rest", now)
}
