package tasks

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// TakeoverInput asks for a task.
type TakeoverInput struct {
	Task    string            `json:"task,omitempty" doc:"Id of the task."`
	To      string            `json:"to,omitempty" doc:"For operators: the agent to offer it to. Agents ask for themselves."`
	From    string            `json:"from,omitempty" doc:"Its owner as you know it; if it has another, the call is refused."`
	Detail  string            `json:"detail,omitempty" doc:"Why."`
	Content envelopes.Content `json:"content,omitzero" doc:"For operators, as with a handoff: what the agent reads beside what the task has, such as an ask in place of a long one."`
}

// ownedBy refuses (conflict) what is said of a task with another owner; "" is any.
func (ts *Tasks) ownedBy(ctx context.Context, c caller.Caller, t task.Task, owner string) error {
	is, err := ts.agentStore.Identity(ctx, c.Workspace, owner)
	if err != nil || owner == "" || t.Owner == is {
		return err
	}
	now := "nobody does"
	if t.Owner != "" {
		now = t.Owner + " does"
	}
	return refusal.New(refusal.Conflict, "leave the owner out, or name the present one", "agent %.80s does not own task %s: %s", owner, t.ID, now)
}

// Takeover asks for a task. An agent that has a part in it, or that is a fallback of its owner or in its escalation chain, gets it at once where its owner is lost;
// otherwise the owner is asked. Every other agent is told that there is no such task. An operator takes it from its owner and offers it to an agent.
func (ts *Tasks) Takeover(ctx context.Context, c caller.Caller, in TakeoverInput) (taskstore.Receipt, error) {
	if c.IsOperator() {
		return ts.takeoverByOperator(ctx, c, in)
	}
	if err := noContent(in.Content, "omit the content: the owner, or an operator, can hand the task over with some", "who asks for a task says nothing to its receiver"); err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "takeover", in.Task, err)
	}
	out, err := ts.store.Decide(ctx, c, "takeover", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		owner, err := ts.agentStore.Known(ctx, c.Workspace, t.Owner, false)
		if err != nil {
			return nil, err
		}
		name := event.AgentName(c.Agent())
		standsIn := slices.Contains(owner.Spec.Fallbacks, name) || slices.Contains(owner.Spec.Escalation, name)
		if !t.Exists() || !standsIn && !ts.store.Sees(c, t) {
			return nil, taskstore.Unknown(in.Task)
		}
		if err := ts.ownedBy(ctx, c, t, in.From); err != nil {
			return nil, err
		}
		cmd := handoff.Takeover{By: c.Principal, Detail: in.Detail}
		var doc envelope.Envelope
		if t.Owner != "" {
			if cmd.Envelope, doc, err = ts.sealer.Handover(ctx, c.Workspace, t, c.Agent(), c.Agent(), event.ReasonRecovery, in.Detail, now); err != nil {
				return nil, err
			}
		}
		events, err := handoff.Decide(t, cmd, now)
		if err != nil {
			return nil, err
		}
		return ts.readable(ctx, c.Workspace, t, c.Agent(), cmd.Envelope, doc, events)
	})
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "takeover", in.Task, err)
	}
	r := ts.store.Receipt(ctx, c, out)
	if !ts.store.Sees(c, *out.State) { // a caller without a part in the task gets the short form
		r = taskstore.Receipt{Task: r.Task, State: r.State, Takeover: r.Takeover, Position: r.Position, Events: r.Events, Repeat: r.Repeat}
	}
	return r, nil
}

// takeoverByOperator is an operator's takeover: what is under way is withdrawn, and the task offered to the agent named. If nobody takes
// what had an owner, it goes to the dead letters, where operators look.
func (ts *Tasks) takeoverByOperator(ctx context.Context, c caller.Caller, in TakeoverInput) (taskstore.Receipt, error) {
	leave, err := ts.enterWork(ctx, c, in.Content, nil)
	if err != nil {
		return taskstore.Receipt{}, err
	}
	defer leave()
	return ts.deciding(ctx, c, "takeover", in.Task, in, func(auto *handoffs.Automatic, t task.Task, now time.Time) ([]event.Event, error) {
		defer leave()
		if in.To == "" {
			return nil, refusal.New(refusal.Invalid, "[name the agent that is to have it](.to), or [ask for it as that agent](act as)", "a task is taken over by an agent")
		}
		if err := ts.ownedBy(ctx, c, t, in.From); err != nil {
			return nil, err
		}
		if to, err := ts.agentStore.Identity(ctx, c.Workspace, in.To); err == nil && t.Owner != "" && to == t.Owner { // others are refused below
			return nil, refusal.New(refusal.Conflict, "[name another agent](.to), or let it go on; to end a handoff that is under way, [withdraw it](handoff withdraw)",
				"%s owns task %s already, under epoch %d", t.Owner, t.ID, t.Epoch).With("field", "to")
		}
		var events []event.Event
		if h := t.InFlight(); h != nil {
			back, err := handoff.Decide(t, handoff.Withdraw{By: c.Principal, Handoff: h.N, Detail: in.Detail}, now)
			if err != nil {
				return nil, err
			}
			events, t = back, task.FoldAll(t, back)
		}
		if k := t.AtDesk(); k != nil {
			back, err := handoff.Decide(t, handoff.WithdrawTicket{By: c.Principal, Ticket: k.N, Detail: in.Detail}, now)
			if err != nil {
				return nil, err
			}
			events, t = append(events, back...), task.FoldAll(t, back)
		}
		send := handoffs.SendInput{Task: t.ID, To: []string{in.To}, Reason: event.ReasonSupervision, Detail: in.Detail, Content: in.Content, ReturnHome: t.Owner == "", Auto: auto}
		sent, err := ts.handoffs.Decide(ctx, c, send, t, now)
		return append(events, sent...), toShorten(err)
	})
}

// noContent refuses (invalid) content where nobody reads it.
func noContent(c envelopes.Content, hint, why string) error {
	field := "content"
	switch {
	case c.IsZero():
		return nil
	case c.Ask != "":
		field = "content.ask"
	case c.Questions != nil:
		field = "content.open_questions"
	}
	return refusal.New(refusal.Invalid, hint, "%s", why).With("field", field)
}

// toShorten is the refusal of a receiver whose budget is too small for what others said of the task, with what an operator can do. That the
// budget of the task is spent stays.
func toShorten(err error) error {
	no, ok := refusal.As(err)
	if !ok || no.Code != refusal.Budget || no.Details["needed"] == nil {
		return err
	}
	return no.Hinting("give it a shorter ask, close the open questions, or name a receiver with a larger context window")
}
