package app

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/caller"
	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
)

// offering decides a command that may make an offer. Every offer of the server goes through here: it is made only to
// whom its circuit admits, and to an agent whose circuit is half-open only as the one probe, claimed before. Whom the
// circuit does not admit is unfit, and the rules decide again, until all who would get the offer are admitted.
func (a *App) offering(ctx context.Context, workspace string, t custody.Task, now time.Time, hints handoff.Hints,
	command func(handoff.Hints) handoff.Command,
) ([]fact.Event, error) {
	hints.Unfit = maps.Clone(hints.Unfit)
	if hints.Unfit == nil {
		hints.Unfit = map[string]string{}
	}
	admitted := map[string]bool{}
	for {
		events, err := handoff.Decide(t, command(hints), now)
		if err != nil {
			return nil, err
		}
		again := false
		for agent, n := range offered(events) {
			if admitted[agent] {
				continue
			}
			err := a.Admit(ctx, workspace, agent, fact.HandoffID(t.ID, n))
			r, refused := refusal.As(err)
			switch {
			case err == nil:
				admitted[agent] = true
			case !refused || caller.Tolerate(err) != nil:
				return nil, err
			default:
				again, hints.Unfit[agent] = true, r.Message
				if hints.Later, err = a.sooner(ctx, workspace, agent, hints.Later); err != nil {
					return nil, err
				}
			}
		}
		if !again {
			return events, nil
		}
	}
}

// offered yields who gets an offer by the events, and of which handoff.
func offered(events []fact.Event) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, e := range events {
			offer, is := e.(fact.OfferMade)
			if !is {
				continue
			}
			for _, agent := range offer.To {
				if !yield(agent, offer.Handoff) {
					return
				}
			}
		}
	}
}

// sooner is the earlier of a moment, if there is one, and when an agent's circuit lets a probe through.
func (a *App) sooner(ctx context.Context, workspace, agent string, than time.Time) (time.Time, error) {
	state, err := a.Known(ctx, workspace, agent, false)
	at := registry.CircuitAt(state, a.now()).ResetAt
	if err != nil || at.IsZero() || !than.IsZero() && than.Before(at) {
		return than, err
	}
	return at, nil
}

// spawning decides a fan-out or a delegation. What a child's first offer will need of a half-open circuit is claimed for
// it here, so that its sender is told at once who cannot take it.
func (a *App) spawning(ctx context.Context, c Caller, in SendInput, t custody.Task, p roster.Plan, sealed fact.Sealed, now time.Time) ([]fact.Event, error) {
	cmd := in.spawn(c, t, p, sealed)
	admitted := map[string]bool{}
	for {
		events, err := handoff.Decide(t, cmd, now)
		if err != nil { // only what is allowed takes a probe
			return nil, err
		}
		child, no, err := a.barred(ctx, c.Workspace, events, admitted)
		if err != nil || no == nil {
			return events, err
		}
		gone := func(agent string) bool { return agent == child.To }
		p.Passed = append(p.Passed, fact.Passed{Agent: child.To, Why: no.Message})
		p.Candidates = slices.DeleteFunc(slices.Clone(p.Candidates), func(k fact.Candidate) bool { return gone(k.Agent) })
		if len(targets(p.Candidates)) == 0 {
			return nil, no
		}
		rest := slices.DeleteFunc(slices.Clone(cmd.Children), func(k fact.NewChild) bool { return gone(k.To) })
		cmd = in.spawn(c, t, p, sealed)
		if len(rest) > 0 { // their probes are claimed under their ids
			cmd.Children = rest
		}
	}
}

// barred is the first of the children spawned by the events whose receiver's circuit does not admit an offer, and why.
func (a *App) barred(ctx context.Context, workspace string, events []fact.Event, admitted map[string]bool) (fact.NewChild, *refusal.Error, error) {
	for _, e := range events {
		spawned, is := e.(fact.Spawned)
		if !is {
			continue
		}
		for _, child := range spawned.Children {
			if admitted[child.To] {
				continue
			}
			err := a.Admit(ctx, workspace, child.To, fact.HandoffID(child.Task, 1))
			if no, refused := refusal.As(err); refused && caller.Tolerate(err) == nil {
				return child, no, nil
			}
			if err != nil {
				return child, nil, err
			}
			admitted[child.To] = true
		}
	}
	return fact.NewChild{}, nil, nil
}
