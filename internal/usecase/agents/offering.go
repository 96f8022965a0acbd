package agents

import (
	"context"
	"iter"
	"maps"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Offering decides a command that may make an offer. Every offer of the server goes through here: it is made only to
// whom its circuit admits, and to an agent whose circuit is half-open only as the one probe, claimed before. Whom the
// circuit does not admit is unfit, and the rules decide again, until all who would get the offer are admitted.
func (r *Roster) Offering(ctx context.Context, workspace string, t task.Task, now time.Time, hints handoff.Hints,
	command func(handoff.Hints) handoff.Command,
) ([]event.Event, error) {
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
			err := r.Admit(ctx, workspace, agent, event.HandoffID(t.ID, n))
			no, refused := refusal.As(err)
			switch {
			case err == nil:
				admitted[agent] = true
			case !refused || caller.Tolerate(err) != nil:
				return nil, err
			default:
				again, hints.Unfit[agent] = true, no.Message
				if hints.Later, err = r.sooner(ctx, workspace, agent, hints.Later); err != nil {
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
func offered(events []event.Event) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, e := range events {
			offer, is := e.(event.OfferMade)
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
func (r *Roster) sooner(ctx context.Context, workspace, agentName string, than time.Time) (time.Time, error) {
	state, err := r.Known(ctx, workspace, agentName, false)
	at := agent.CircuitAt(state, r.now()).ResetAt
	if err != nil || at.IsZero() || !than.IsZero() && than.Before(at) {
		return than, err
	}
	return at, nil
}

// Barred is the first of the children spawned by the events whose receiver's circuit does not admit an offer, and why.
func (r *Roster) Barred(ctx context.Context, workspace string, events []event.Event, admitted map[string]bool) (event.NewChild, *refusal.Error, error) {
	for _, e := range events {
		spawned, is := e.(event.Spawned)
		if !is {
			continue
		}
		for _, child := range spawned.Children {
			if admitted[child.To] {
				continue
			}
			err := r.Admit(ctx, workspace, child.To, event.HandoffID(child.Task, 1))
			if no, refused := refusal.As(err); refused && caller.Tolerate(err) == nil {
				return child, no, nil
			}
			if err != nil {
				return child, nil, err
			}
			admitted[child.To] = true
		}
	}
	return event.NewChild{}, nil, nil
}
