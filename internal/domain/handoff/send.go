package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Send requests a handoff of the task to one of the candidates: the first message of the handshake. Delegations and
// fan-outs are requested with [Spawn].
type Send struct {
	By          identity.Principal
	Asked       string // the principal that requested it first, if a dead letter is replayed; empty: By
	Epoch       uint64
	Kind        event.Kind
	Part, Claim bool // Part: it gives a child task to its agent, in the name of the server; its parent has requested it
	Reason      event.Reason
	Detail      string
	Capability  string
	Channel     string            // that it is published to
	Chain       string            // the escalation chain of the candidates' levels
	Candidates  []event.Candidate // in the order of the offers
	Passed      []event.Passed    // already passed over by routing
	Confirm     event.ConfirmMode
	Timeouts    event.Timeouts
	Retries     *int // nil: 3
	ReturnHome  bool
	Approver    string // of a supervised handoff: an agent; empty: any operator
	Permissions []string
	NewWork     bool // the envelope has new decisions: a revisit is no loop
	RouteStep   bool
	Pack        event.Pack
	Envelope    event.Sealed
	Decision    *event.Decision // what routing made of "auto"
	Hints       Hints
}

func (c Send) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireSource(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	if err := c.check(t); err != nil {
		return nil, err
	}
	if limit := task.LimitReached(&t, c.Reason); limit != "" {
		return c.stopped(event.ParkLimit, limit, now), nil
	}
	c.NewWork = c.NewWork || c.By.IsOperator() && c.Reason == event.ReasonSupervision // a takeover by an operator is a decision
	once, twice := event.Ordered(c.Candidates)
	candidates, passed, limit := screen(t, once, func(k event.Candidate) string { return k.Agent }, append(slices.Clip(c.Passed), twice...), c.NewWork)
	if len(candidates) == 0 && limit != "" {
		return c.stopped(event.ParkLimit, limit, now), nil
	}
	if len(candidates) == 0 {
		return c.noReceiver(passed, now)
	}
	d := decision{t: t, events: make([]event.Event, 0, 4)}
	if c.Envelope.Digest != "" {
		d.do(c.Envelope)
	}
	d.do(event.HandoffRequested{
		Handoff: t.NextHandoff(), Kind: c.Kind, Claim: c.Claim || c.Kind == event.Broadcast && !c.Part, From: t.Source(), Reason: c.Reason, Detail: c.Detail,
		Capability: c.Capability, Chain: c.Chain, Channel: c.Channel, Candidates: candidates, Passed: passed, Confirm: cmp.Or(c.Confirm, event.ConfirmAuto),
		Timeouts: c.Timeouts.Over(t.Times), Retries: retries(c.Retries), ReturnHome: c.ReturnHome, Approver: c.Approver,
		Envelope: d.t.Envelope, Permissions: c.Permissions, NewWork: c.NewWork, RouteStep: c.RouteStep, Pack: c.Pack, Decision: c.Decision,
		By: cmp.Or(c.Asked, c.By.String()), Lease: t.RenewedLease(c.By.Agent(), now), Before: t.Standing(), At: now,
	})
	if c.Kind == event.Supervised {
		d.do(event.ApprovalAsked{Approver: c.Approver, Envelope: d.t.Envelope, Ends: d.t.Handoff.Times.Approval.After(now)})
		return d.events, nil
	}
	if unfit, ok := d.offerFrom(0, nil, c.Hints, now); !ok && (!c.By.IsSystem() || !d.waits(c.Hints, now)) {
		return c.noReceiver(append(passed, unfit...), now)
	}
	return d.events, nil
}

func (c Send) check(t task.Task) error {
	if t.State != event.Pending && t.State != event.Executing {
		return busy(t)
	}
	switch {
	case c.Kind == event.Delegation && !c.Part:
		return refusal.New(refusal.Invalid, "[spawn a child task](send)", "a delegation does not move the task")
	case c.Kind == "" || c.Reason == "":
		return refusal.New(refusal.Invalid, "name both", "a handoff needs a kind and a reason")
	case c.Retries != nil && (*c.Retries < 0 || *c.Retries > event.MaxRetries):
		return refusal.New(refusal.Invalid, fmt.Sprintf("use 0 to %d", event.MaxRetries), "%d retries are out of range", *c.Retries).With("field", "retries")
	case c.Envelope.Digest == "" && t.Envelope == "":
		return refusal.New(refusal.Invalid, "give the digest of a sealed envelope", "a handoff needs an envelope")
	case c.Kind == event.Supervised && c.Approver != "" && (c.Approver == c.By.Agent() || c.Approver == t.Owner || t.Source() == "agent/"+c.Approver):
		return refusal.New(refusal.Invalid, "name another agent, or leave it to the operators", "nobody approves a handoff that they asked for")
	}
	if c.Kind == event.Supervised && c.Approver != "" &&
		slices.ContainsFunc(c.Candidates, func(k event.Candidate) bool { return k.Agent == c.Approver && k.Tier == event.TierTarget }) {
		return refusal.New(refusal.Invalid, "name another approver", "%s cannot approve what it is to receive", c.Approver)
	}
	if k := t.OpenTicket(); k != nil && c.Kind == event.Supervised {
		return refusal.New(refusal.Conflict, "[hand it off](send) without an approver, or [release the ticket](ticket release)", "you have taken task %s over by ticket %s: others do not approve its handoffs",
			t.ID, event.TicketID(t.ID, k.N))
	}
	if used, _ := t.BudgetSpent(); used {
		return refusal.New(refusal.Budget, "[complete the task](task complete) with the results so far, or "+task.HowToRaise(&t, ""), "the budget of task %s is spent", t.ID)
	}
	return firstError(requireReady(t), requireNewest(t, c.Envelope), event.CheckField("detail", c.Detail), refusal.In("timeouts", c.Timeouts.Check()), refusal.In("pack", c.Pack.Check()),
		refusal.In("permissions", authority.RequireNarrower(t, c.Permissions)), refusal.In("capability", event.CheckOptional("a capability", c.Capability)), refusal.In("channel", event.CheckOptional("a channel", c.Channel)), event.CheckText("the chain", c.Chain, 2*event.MaxName), refusal.In("approver", event.CheckOptionalAgent("an approver", c.Approver)),
		event.CheckCandidates(c.Candidates))
}

// noReceiver is the result if no candidate can take the task: a refusal, or the dead letters for a request of the server,
// which nobody would repeat.
func (c Send) noReceiver(passed []event.Passed, now time.Time) ([]event.Event, error) {
	err := noReceiver(passed, "you still hold the task; try another receiver, or later")
	if c.By.IsSystem() {
		return c.stopped(event.ParkExhausted, err.Message, now), nil
	}
	return nil, err
}

// stopped moves to the dead letters what cannot be sent, with what was given: the agent that the task is replayed to gets that.
func (c Send) stopped(cause event.ParkCause, why string, now time.Time) []event.Event {
	e := park(cause, why, now)
	if c.Envelope.Digest == "" {
		return []event.Event{e}
	}
	e.Unsent = &event.Unsent{Kind: c.Kind, Envelope: c.Envelope.Digest, Permissions: c.Permissions}
	if c.Part { // what is asked in it is asked of the owner of the child
		e.Unsent.Kind = event.Warm
	}
	return []event.Event{c.Envelope, e}
}

// MaySend refuses a principal that could not hand the task off now to any receiver.
func MaySend(t task.Task, by identity.Principal, epoch uint64) error {
	if err := authority.RequireSource(t, by, epoch); err != nil {
		return err
	}
	if t.State != event.Pending && t.State != event.Executing {
		return busy(t)
	}
	return nil
}

// Hints is the state of the receivers, as read from the views. It may be stale: then a decision costs an offer, never a task.
type Hints struct {
	// Unfit maps agents that should get no offer now to the reason (offline, full, circuit open).
	Unfit map[string]string
	// Later is when the first agent that is unfit only for its open circuit admits a probe; zero: there is none.
	Later time.Time
	// Full are the agents that are unfit only because as many offers of the sender wait for them as may.
	Full map[string]bool
	// Jitter spreads retries; in [0, 1).
	Jitter float64
}

// screen passes over the owner and agents that would close a loop. limit is the last limit that excluded an agent.
func screen[T any](t task.Task, all []T, agent func(T) string, passed []event.Passed, newWork bool) (fit []T, out []event.Passed, limit string) {
	out = slices.Clip(passed)
	for _, c := range all {
		why, closes := t.Barred(agent(c), newWork)
		if why == "" {
			fit = append(fit, c)
			continue
		}
		out = append(out, event.Passed{Agent: agent(c), Why: why})
		if closes {
			limit = why
		}
	}
	return fit, out, limit
}

func retries(n *int) int {
	if n == nil {
		return 3
	}
	return *n
}

func noReceiver(passed []event.Passed, hint string) *refusal.Error {
	msg := "nobody can take it"
	if len(passed) > 0 {
		msg += ": " + event.WhyPassed(passed)
	}
	return refusal.New(refusal.Unavailable, hint, "%s", msg).With("passed_over", passed)
}
