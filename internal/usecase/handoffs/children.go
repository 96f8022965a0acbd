package handoffs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// spawning decides a fan-out or a delegation. What a child's first offer will need of a half-open circuit is claimed for
// it here, so that its sender is told at once who cannot take it.
func (h *Handoffs) spawning(ctx context.Context, c caller.Caller, in SendInput, t task.Task, p routes.Plan, sealed event.Sealed, now time.Time) ([]event.Event, error) {
	cmd := in.spawn(c, t, p, sealed)
	admitted := map[string]bool{}
	for {
		events, err := handoff.Decide(t, cmd, now)
		if err != nil { // only what is allowed takes a probe
			return nil, err
		}
		child, no, err := h.routes.Barred(ctx, c.Workspace, t.SourcePrincipal(), events, admitted)
		if err != nil || no == nil {
			return events, err
		}
		gone := func(agent string) bool { return agent == child.To }
		p.Passed = append(p.Passed, event.Passed{Agent: child.To, Why: no.Message})
		p.Candidates = slices.DeleteFunc(slices.Clone(p.Candidates), func(k event.Candidate) bool { return gone(k.Agent) })
		if len(targets(p.Candidates)) == 0 {
			return nil, no
		}
		rest := slices.DeleteFunc(slices.Clone(cmd.Children), func(k event.NewChild) bool { return gone(k.To) })
		cmd = in.spawn(c, t, p, sealed)
		if len(rest) > 0 { // their probes are claimed under their ids
			cmd.Children = rest
		}
	}
}

// fitting is [envelopes.Sealer.Fitting] with what the receivers of a send will read: the envelope doc or, if each gets a child task, the first one of a
// child. Those of the other children differ in the ids of their tasks alone.
func (h *Handoffs) fitting(ctx context.Context, c *caller.Caller, in *SendInput, t *task.Task, p *routes.Plan, sealed *event.Sealed, doc *envelope.Envelope, now time.Time) (
	[]event.Candidate, []event.Passed, error,
) {
	if in.Kind == event.Delegation || in.FanOut {
		return h.fittingChild(ctx, c, in, t, p, sealed, doc, now)
	}
	return h.sealer.Fitting(ctx, c.Workspace, sealed, *doc, p.Candidates, in.Pack)
}

// fittingChild is fitting for a handoff that makes children. It is apart since its frame is large.
func (h *Handoffs) fittingChild(ctx context.Context, c *caller.Caller, in *SendInput, t *task.Task, p *routes.Plan, sealed *event.Sealed, doc *envelope.Envelope, now time.Time) (
	[]event.Candidate, []event.Passed, error,
) {
	events, err := handoff.Decide(*t, in.spawn(*c, *t, *p, *sealed), now)
	if err != nil {
		return nil, nil, err
	}
	spawned, is := events[len(events)-1].(event.Spawned)
	if !is { // a limit is reached
		return p.Candidates, nil, nil
	}
	parent := task.FoldAll(*t, events)
	created, err := handoff.Decide(task.Task{}, handoff.ChildOf(parent, spawned, 0), now)
	if err != nil {
		return nil, nil, err
	}
	child, to := task.FoldAll(task.Task{}, created), spawned.Children[0].To
	send := toChild(spawned, child.ID, to)
	draft, err := h.sealer.DraftChild(ctx, c.Workspace, *doc, sealed.Digest, child, parent, spawned, send.header(*c, child, []string{to}), now)
	if err != nil {
		return nil, nil, err
	}
	first := event.Sealed{Bytes: sealed.Bytes}
	fit, passed, err := h.sealer.Fitting(ctx, c.Workspace, &first, draft, p.Candidates, in.Pack)
	sealed.Measured = first.Measured
	return fit, passed, err
}

func (in *SendInput) spawn(c caller.Caller, t task.Task, p routes.Plan, sealed event.Sealed) handoff.Spawn {
	to := targets(p.Candidates)
	if in.Kind == event.Delegation && len(to) > 1 {
		to = to[:1]
	}
	s := handoff.Spawn{
		By: c.Principal, Epoch: in.Epoch, Kind: in.Kind, FanIn: in.FanIn, Timeouts: in.Timeouts, Retries: in.Retries,
		Reason: in.Reason, Detail: in.Detail, Permissions: in.Permissions, Expected: in.Expected,
		NewWork: in.Content.HasWork(), Passed: p.Passed, Channel: in.Channel, Envelope: sealed, Pack: in.Pack, Decision: in.Decision,
	}
	if s.FanIn.Mode == "" {
		s.FanIn.Mode = event.FanInAll
	}
	intent := in.Content.Ask
	if intent == "" {
		intent = t.Intent
	}
	for i, name := range to {
		n := t.NextChild() + i
		s.Children = append(s.Children, event.NewChild{Task: event.ChildID(t.ID, n), Index: n, To: name, Intent: intent, Budget: in.Budget})
	}
	return s
}

// handoffs are the ids that the offers of a send may have.
func (in *SendInput) handoffs(t task.Task) []string {
	if in.Kind != event.Delegation && !in.FanOut {
		return []string{t.NextHandoffID()}
	}
	var ids []string
	for i := range cmp.Or(len(in.To), routing.MaxListed) {
		ids = append(ids, event.HandoffID(event.ChildID(t.ID, t.NextChild()+i), 1))
	}
	return ids
}
