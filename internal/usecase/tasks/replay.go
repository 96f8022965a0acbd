package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ReplayInput revives a task from the dead letters.
type ReplayInput struct {
	Task       string            `json:"task,omitempty" doc:"Id of the task."`
	To         []string          `json:"to,omitempty" doc:"New receivers, by a plain handoff that carries what the failed one did, or one that a limit stopped. Left out: the handoff that failed is asked for again as it was; if there was none, the owner goes on."`
	Capability string            `json:"capability,omitempty" doc:"What the receiver must be able to do, instead of a name."`
	Route      []string          `json:"route,omitzero" doc:"Replaces the task's route, which the task then follows; empty: it has none. Left out: as it is."`
	Deadline   time.Time         `json:"deadline,omitzero" doc:"Replaces the task's. One that has passed is dropped."`
	Budget     event.Budget      `json:"budget,omitzero" doc:"Replaces the task's."`
	Note       string            `json:"note,omitempty" doc:"Why."`
	Home       bool              `json:"home,omitempty" doc:"Back to its owner instead of to a receiver."`
	Kind       event.Kind        `json:"kind,omitempty" doc:"warm, cold or supervised. Left out: to those it was meant for, as it was; to others, cold if it was cold, and otherwise warm."`
	Content    envelopes.Content `json:"content,omitzero" doc:"As with a handoff: what the receiver reads beside what the failed one handed over, such as an ask in place of a long one."`
}

// check refuses what contradicts itself, and a kind that a replay cannot have.
func (in ReplayInput) check() error {
	switch {
	case in.Home && (len(in.To) > 0 || in.Capability != ""):
		return refusal.New(refusal.Invalid, "omit home, or name no receivers", "a task goes back to its owner, or to other receivers").With("field", "home")
	case in.Kind != "" && in.Home:
		return refusal.New(refusal.Invalid, "omit kind, or name receivers instead of home", "a task that goes back to its owner is not handed off").With("field", "kind")
	case in.Kind == event.Broadcast, in.Kind == event.Delegation:
		return refusal.New(refusal.Invalid, "use warm, cold or supervised, or omit kind", "a dead letter is not replayed as a %s", in.Kind).With("field", "kind")
	}
	return nil
}

// Replay revives a task from the dead letters with fresh limits, and sends it where the input says, in one decision. Where
// it says nothing, the handoff that failed is asked for again: see [handoffs.Again].
func (ts *Tasks) Replay(ctx context.Context, c caller.Caller, in ReplayInput) (taskstore.Receipt, error) {
	if err := c.May(identity.ManageDeadLetters, "replay a dead letter"); err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "replay", in.Task, err)
	}
	leave, err := ts.enterWork(ctx, c, in.Content, nil)
	if err != nil {
		return taskstore.Receipt{}, err
	}
	defer leave()
	return ts.deciding(ctx, c, "replay", in.Task, in, func(auto *handoffs.Automatic, t task.Task, now time.Time) ([]event.Event, error) {
		defer leave()
		events, err := ts.decideReplay(ctx, c, in, auto, t, now)
		if err != nil {
			return nil, err
		}
		return events, ts.reserveReplay(ctx, c, in) // last, so that a replay that is refused reserves nothing
	})
}

func (ts *Tasks) decideReplay(ctx context.Context, c caller.Caller, in ReplayInput, auto *handoffs.Automatic, t task.Task, now time.Time) ([]event.Event, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	events, err := handoff.Decide(t, handoff.Replay{By: c.Principal, Note: in.Note, Route: in.Route, Deadline: in.Deadline, Budget: in.Budget}, now)
	if err != nil {
		return nil, err
	}
	failed, unsent := t.Handoff, t.Unsent
	if failed != nil && (unsent != nil || failed.Stage != event.DeadLettered && failed.Stage != event.AtDesk) {
		failed = nil
	}
	t = task.FoldAll(t, events)
	send := handoffs.SendInput{Task: t.ID, To: in.To, Capability: in.Capability, Detail: in.Note, Reason: event.ReasonSupervision}
	switch {
	case unsent != nil:
		send = instead(send, unsent.Kind, unsent.Envelope, unsent.Permissions)
	case failed == nil:
	case len(send.To) == 0 && send.Capability == "":
		send = handoffs.Again(t, failed, in.Note, in.Route != nil)
	default:
		send = instead(send, failed.Kind, failed.Envelope, failed.Permits)
	}
	if in.Kind != "" {
		send.Kind = in.Kind
	}
	if send.Kind != event.Supervised {
		send.Approver = ""
	}
	if in.Home || len(send.To) == 0 && send.Capability == "" && send.Channel == "" && len(t.Route) == 0 {
		return events, noContent(in.Content, "omit the content, or name a receiver", "a task that goes back to its owner is not handed off")
	}
	in.Content.Again = send.Content.Again
	send.Content, send.Auto = in.Content, auto
	if spent, _ := t.BudgetSpent(); spent {
		return nil, refusal.New(refusal.Budget, task.HowToReplay(&t), "the budget of task %s is spent", t.ID)
	}
	sent, err := ts.handoffs.Decide(ctx, c, send, t, now)
	return append(events, sent...), toShorten(err)
}

// instead is a send to others than a failed one was meant for: with what it gave, cold if it was cold, and they may no more.
func instead(send handoffs.SendInput, kind event.Kind, envelope string, permissions []string) handoffs.SendInput {
	send.Content.Again, send.Permissions = envelope, permissions
	if kind == event.Cold {
		send.Kind = event.Cold
	}
	return send
}

// reserveReplay takes what a child is to get more with its replay from what its parent has left, as [Tasks.RaiseBudget] does. What the
// child may not get, the replay refuses.
func (ts *Tasks) reserveReplay(ctx context.Context, c caller.Caller, in ReplayInput) error {
	if in.Budget == (event.Budget{}) {
		return nil
	}
	if err := event.CheckTaskID(in.Task); err != nil {
		return err
	}
	child, err := ts.store.Find(ctx, c.Workspace, in.Task)
	if err != nil || child.Parent.Task == "" || child.State != event.Parked {
		return err
	}
	more := in.Budget
	if child.Budget.Tokens == 0 { // it had no limit, so nothing is reserved for it
		more.Tokens = 0
	}
	if child.Budget.Cost == 0 {
		more.Cost = 0
	}
	if more == (event.Budget{}) {
		return nil
	}
	_, err = ts.store.Decide(ctx, c, "replay", child.Parent.Task, in, func(parent task.Task, now time.Time) ([]event.Event, error) {
		if parent.State.Final() {
			return nil, nil
		}
		replay := handoff.Replay{By: c.Principal, Note: in.Note, Route: in.Route, Deadline: in.Deadline, Budget: in.Budget}
		if _, err := handoff.Decide(child, replay, now); err != nil {
			return nil, err
		}
		return handoff.Decide(parent, handoff.RaiseBudget{By: c.Principal, Child: child.ID, Budget: more, Why: in.Note}, now)
	})
	return err
}
