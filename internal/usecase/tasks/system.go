package tasks

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Report tells an agent's circuit how an offer or lease ended, where that can make a difference.
func (a *App) Report(ctx context.Context, workspace, agentName string, e ledger.Entry, o agent.Outcome, task string, n int) error {
	cmd := agent.ReportOutcome{Name: agentName, Cause: uint64(e.Position), Outcome: o, Task: task}
	if n > 0 {
		cmd.Handoff = event.HandoffID(task, n)
	}
	state, err := a.Known(ctx, workspace, agentName, false)
	if err != nil || !agent.Worth(state, cmd) {
		return err
	}
	_, err = a.ChangeAgent(ctx, caller.System(workspace, "courier", e.Actor), agentName, "", cmd)
	return caller.Tolerate(err)
}

// CreateChildren creates the child tasks that a parent has recorded, each with its envelope and its first offer.
func (a *App) CreateChildren(ctx context.Context, workspace, parent string, e ledger.Entry, ev event.Spawned) error {
	out, err := a.tasks.AsOf(ctx, taskstore.StreamOf(workspace, parent), e.Position)
	if err != nil {
		return err
	}
	c := caller.System(workspace, "courier", e.Actor)
	for n := range ev.Children {
		create := handoff.ChildOf(*out.State, ev, n)
		_, err := a.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, create.Task), func(t task.Task, now time.Time) ([]event.Event, error) {
			if t.Exists() {
				return nil, nil
			}
			return a.decideChild(ctx, c, ev, create, ev.Children[n].To, *out.State, now)
		})
		if err := caller.Tolerate(err); err != nil {
			return err
		}
	}
	return nil
}

func (a *App) decideChild(ctx context.Context, c Caller, ev event.Spawned, create handoff.Create, to string, parent task.Task, now time.Time) ([]event.Event, error) {
	events, err := handoff.Decide(task.Task{}, create, now)
	if err != nil {
		return nil, err
	}
	t := task.FoldAll(task.Task{}, events)
	sent, err := a.sender.OfferChild(ctx, c, ev, t, to, parent, now)
	if err != nil && caller.Tolerate(err) == nil {
		sent, err = strand(t, err, now)
	}
	return append(events, sent...), err
}

// strand parks what the server could not send: nobody is there to hear the refusal.
func strand(t task.Task, why error, now time.Time) ([]event.Event, error) {
	return handoff.Decide(t, handoff.Park{By: caller.System("", "courier").Principal, Why: refusal.Clip(why.Error(), 1000)}, now)
}

// CheckDependencies tells a new task of dependencies that ended while it was being created.
func (a *App) CheckDependencies(ctx context.Context, workspace, id string, ev event.Created) error {
	for _, d := range ev.Dependencies {
		f, err := a.tasks.Load(ctx, taskstore.StreamOf(workspace, d.Task), true)
		if err != nil {
			return err
		}
		if f.State.State.Final() {
			if err := a.tell(ctx, workspace, id, handoff.EndDependency{Task: d.Task, State: f.State.State}); err != nil {
				return err
			}
		}
	}
	if len(ev.Dependencies) > 0 {
		return a.SetOut(ctx, workspace, id)
	}
	return nil
}

// SetOut sends a task whose dependencies have completed along its route.
func (a *App) SetOut(ctx context.Context, workspace, id string) error {
	c := caller.System(workspace, "courier")
	_, err := a.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, id), func(t task.Task, now time.Time) ([]event.Event, error) {
		if t.State != event.Pending || t.Owner != "" || len(t.Route) == 0 || len(t.Unmet()) > 0 || t.Handoff != nil {
			return nil, nil
		}
		in := SendInput{Task: id, Reason: event.ReasonSpecialization, Detail: "its dependencies have completed"}
		events, err := a.sender.Decide(ctx, c, in, t, now)
		if err != nil && caller.Tolerate(err) == nil {
			return strand(t, err, now)
		}
		return events, err
	})
	return caller.Tolerate(err)
}

// TellEnd tells the parent and the dependents of a task how it stands after an event of an entry.
func (a *App) TellEnd(ctx context.Context, workspace, id string, e ledger.Entry, ev event.Event) error {
	f, err := a.tasks.LoadAt(ctx, e)
	if err != nil {
		return err
	}
	t := f.State
	if t.Parent.Task != "" && (t.Parent.Await || t.State.Final()) { // what it did not use is its parent's again
		end := handoff.EndChild{Child: id, State: t.State, Result: t.Result, Spent: t.Spent, Tasks: t.Offspring(), Why: whyEnded(t, ev)}
		if !t.State.Final() && t.State != event.Parked { // out of the dead letters again
			end.State = event.Pending
		}
		if err := a.tell(ctx, workspace, t.Parent.Task, end); err != nil {
			return err
		}
	}
	if !t.State.Final() {
		return nil
	}
	if err := a.views.Wait(ctx, f.Head); err != nil {
		return stream.Unavailable(err)
	}
	dependents, err := a.views.Dependents(ctx, workspace, id)
	if err != nil {
		return stream.Unavailable(err)
	}
	for _, d := range dependents {
		if err := a.tell(ctx, workspace, d, handoff.EndDependency{Task: id, State: t.State}); err != nil {
			return err
		}
	}
	return nil
}

// whyEnded is why a task that an event has brought to an end, or to the dead letters, was not completed.
func whyEnded(t task.Task, ev event.Event) string {
	if t.State == event.Parked {
		return string(t.Parked.Cause) + ": " + t.Parked.Detail
	}
	because := func(did, by, detail string) string {
		if detail != "" {
			detail = ": " + detail
		}
		return did + " by " + by + detail
	}
	switch ev := ev.(type) {
	case event.GaveUp:
		return ev.Detail
	case event.Called:
		return because("cancelled", ev.By, ev.Detail)
	case event.Discarded:
		return because("discarded", ev.By, ev.Why)
	}
	return ""
}

// CancelChildren cancels what is open of a cancelled task's children.
func (a *App) CancelChildren(ctx context.Context, workspace string, e ledger.Entry) error {
	f, err := a.tasks.LoadAt(ctx, e)
	if err != nil {
		return err
	}
	var open []string
	for _, c := range f.State.Children {
		if !c.State.Final() {
			open = append(open, c.Task)
		}
	}
	return a.CancelAll(ctx, workspace, open, "its parent was cancelled")
}

// Bind lays a constraint that a task got upon its open children: it reaches every later envelope of theirs too. A child
// that has no room for it goes to the dead letters, rather than on without it.
func (a *App) Bind(ctx context.Context, workspace string, e ledger.Entry, k event.Constraint) error {
	f, err := a.tasks.LoadAt(ctx, e)
	if err != nil {
		return err
	}
	c := caller.System(workspace, "courier")
	for _, child := range f.State.Children {
		if child.State.Final() {
			continue
		}
		_, err := a.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, child.Task), func(t task.Task, now time.Time) ([]event.Event, error) {
			events, err := handoff.Decide(t, handoff.Constrain{By: c.Principal, Constraint: k}, now)
			if code := refusal.CodeOf(err); code == refusal.TooLarge || code == refusal.Invalid {
				return strand(t, err, now)
			}
			return events, err
		})
		if err := caller.Tolerate(err); err != nil {
			return err
		}
	}
	return nil
}

// CancelAll cancels child tasks for their parent.
func (a *App) CancelAll(ctx context.Context, workspace string, ids []string, why string) error {
	for _, id := range ids {
		cmd := handoff.Cancel{By: caller.System(workspace, "courier").Principal, Detail: why}
		if err := a.tell(ctx, workspace, id, cmd); err != nil {
			return err
		}
	}
	return nil
}

// tell gives a task a command of the server's own.
func (a *App) tell(ctx context.Context, workspace, id string, cmd handoff.Command) error {
	_, err := a.tasks.Do(ctx, caller.System(workspace, "courier").Write(""), taskstore.StreamOf(workspace, id), func(t task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, cmd, now)
	})
	return caller.Tolerate(err)
}

// Tick lets the clocks of a task that are due do what they do. Early or repeated ticks are harmless.
func (a *App) Tick(ctx context.Context, ref view.Ref) error {
	c := caller.System(ref.Workspace, "courier")
	_, err := a.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(ref.Workspace, ref.Task), func(t task.Task, now time.Time) ([]event.Event, error) {
		if due := t.Due(); due.IsZero() || due.After(now) {
			return nil, nil
		}
		if !t.NeedsRecovery(now) {
			return a.withHints(ctx, ref.Workspace, t, now, func(hints handoff.Hints) handoff.Command { return handoff.Tick{Hints: hints} })
		}
		cmd, err := a.recovery(ctx, ref.Workspace, t, now)
		if err != nil {
			return nil, err
		}
		return a.Offering(ctx, ref.Workspace, t, now, cmd.Hints, func(hints handoff.Hints) handoff.Command {
			cmd.Hints = hints
			return cmd
		})
	})
	return caller.Tolerate(err)
}

// recovery is the tick that replaces a lost owner: by whom, and with what.
func (a *App) recovery(ctx context.Context, workspace string, t task.Task, now time.Time) (handoff.Tick, error) {
	var cmd handoff.Tick
	p, err := a.successors(ctx, workspace, t, true, now)
	if err != nil {
		return cmd, err
	}
	cmd.Recovery, cmd.Chain = p.Candidates, p.Chain
	cmd.Hints.Jitter = a.Jitter()
	detail := t.Owner + " showed no life"
	if t.Lease.After(now) {
		detail = t.Owner + " reported no progress"
	}
	cmd.Recovery, cmd.Passed, cmd.Envelope, err = a.recoverable(ctx, workspace, t, cmd.Recovery, detail, now)
	return cmd, err
}

// successors are who may have a task instead of its owner: those who stand in for it, then the owner itself, if it may come
// back, and then those above it in its chain.
func (a *App) successors(ctx context.Context, workspace string, t task.Task, back bool, now time.Time) (agents.Plan, error) {
	known := a.InMemory(workspace)
	p, err := a.Plan(ctx, workspace, agents.For(t.Owner, known), now)
	if err != nil {
		return p, err
	}
	p.Candidates = slices.DeleteFunc(p.Candidates, func(k event.Candidate) bool { return k.Agent == t.Owner })
	if back {
		p.Candidates, p.Refused = append(p.Candidates, event.Candidate{Agent: t.Owner, Tier: event.TierTarget}), nil
	}
	req := routing.Request{Exclude: []string{t.Owner}, Own: []string{t.NextHandoffID()}}
	return a.Behind(ctx, workspace, p, event.Receiver{Agent: t.Owner}, known, t, req, now)
}

// recoverable is with what an owner is replaced, and which of those who stand in for it can read that. Where nobody can, the
// rules say what becomes of the task.
func (a *App) recoverable(ctx context.Context, workspace string, t task.Task, by []event.Candidate, detail string, now time.Time) (
	fit []event.Candidate, passed []event.Passed, envelope event.Sealed, err error,
) {
	sealed, doc, err := a.handover(ctx, workspace, t, by[0].Agent, event.ReasonRecovery, detail, now)
	if refuses(err) { // the last envelope serves
		sealed = event.Sealed{Digest: t.Envelope}
		doc, err = a.sealer.Sealed(ctx, workspace, t.ID, t.Envelope)
	} else {
		envelope = sealed
	}
	if err != nil {
		return nil, nil, envelope, err
	}
	fit, passed, err = a.sealer.Fitting(ctx, workspace, sealed.Digest, doc, by, event.Pack{})
	if refuses(err) { // nobody can read it
		err = nil
	}
	return fit, passed, envelope, err
}

// refuses reports whether an error is a refusal that trying again does not mend.
func refuses(err error) bool {
	_, refused := refusal.As(err)
	return refused && refusal.CodeOf(err) != refusal.Unavailable
}
