package routes

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Offering decides a command that may make an offer. Every offer of the server goes through here: it is made only to agents
// that their circuits admit, and to an agent whose circuit is half-open only as the one probe, claimed before. An agent that
// its circuit does not admit is unfit, and the rules decide again, until all agents that would get the offer are admitted.
func (r *Routes) Offering(ctx context.Context, workspace string, t task.Task, now time.Time, hints handoff.Hints,
	command func(handoff.Hints) handoff.Command,
) ([]event.Event, error) {
	hints.Unfit, hints.Full = maps.Clone(hints.Unfit), nil
	admitted := map[string]bool{}
	var over *refusal.Error
	for {
		events, err := handoff.Decide(t, command(hints), now)
		if code := refusal.CodeOf(err); over != nil && (code == refusal.Unavailable || code == refusal.CircuitOpen) {
			return nil, over // this is why nobody is left
		}
		if err != nil {
			return nil, err
		}
		again, sender := false, task.SenderOf(&t, events)
		for agent, n := range offered(events) {
			if admitted[agent] {
				continue
			}
			err := r.admit(ctx, workspace, sender, agent, event.HandoffID(t.ID, n), !recovers(t, events))
			no, refused := refusal.As(err)
			switch {
			case err == nil:
				admitted[agent] = true
			case !refused || caller.Tolerate(err) != nil:
				return nil, err
			default:
				again = true
				put(&hints.Unfit, agent, no.Message)
				if no.Code == refusal.Overloaded {
					over = no
					put(&hints.Full, agent, true)
					continue
				}
				if hints.Later, err = r.sooner(ctx, workspace, sender, agent, hints.Later); err != nil {
					return nil, err
				}
			}
		}
		if !again {
			return events, nil
		}
	}
}

// put adds to a map that may be nil: mostly nobody is unfit.
func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

// recovers reports whether the handoff that the events request, or else the one in flight, replaces a lost owner.
func recovers(t task.Task, events []event.Event) bool {
	for _, e := range events {
		if r, is := e.(event.HandoffRequested); is {
			return r.Recovery
		}
	}
	h := t.InFlight()
	return h != nil && h.Recovery
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

// sooner is the earlier of a moment, if there is one, and when an agent's circuits let a probe of a sender through.
func (r *Routes) sooner(ctx context.Context, workspace, sender, agentName string, than time.Time) (time.Time, error) {
	state, err := r.agents.Known(ctx, workspace, agentName, false)
	at := agent.CircuitFor(state, sender, r.now()).ResetAt
	if err != nil || at.IsZero() || !than.IsZero() && than.Before(at) {
		return than, err
	}
	return at, nil
}

// Barred is the first of the children that a sender spawns by the events whose receiver's circuit does not admit an offer, and why.
func (r *Routes) Barred(ctx context.Context, workspace, sender string, events []event.Event, admitted map[string]bool) (event.NewChild, *refusal.Error, error) {
	for _, e := range events {
		spawned, is := e.(event.Spawned)
		if !is {
			continue
		}
		for _, child := range spawned.Children {
			if admitted[child.To] {
				continue
			}
			err := r.Admit(ctx, workspace, sender, child.To, event.HandoffID(child.Task, 1))
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

// Admit lets one offer of a sender's handoff through an agent's circuits, the shared one and the one between the two. One that is closed lets everything through; one that is
// half-open, the one handoff that claims its probe here, on the agent's own stream; any other is refused (circuit_open),
// saying until when. It refuses (overloaded) a sender of which too much waits there. It may be repeated for the same handoff.
func (r *Routes) Admit(ctx context.Context, workspace, sender, agentName, handoffID string) error {
	return r.admit(ctx, workspace, sender, agentName, handoffID, true)
}

// admit is Admit. An offer that replaces a lost owner is not bounded: nobody sent it, and a full inbox must not end the task.
func (r *Routes) admit(ctx context.Context, workspace, sender, agentName, handoffID string, bounded bool) error {
	state, err := r.agents.Known(ctx, workspace, agentName, false)
	if err != nil {
		return err
	}
	if bounded && r.waiting != nil && sender != "" {
		if err := r.waiting.Admit(ctx, workspace, sender, agentName); err != nil {
			return err
		}
	}
	if agent.CircuitFor(state, sender, r.now()).Phase == agent.Closed {
		return nil
	}
	_, err = r.agents.Change(ctx, caller.System(workspace, "routing"), agentName, "", agent.ClaimProbe{Name: agentName, Sender: sender, Handoff: handoffID})
	return err
}

// OfferNext decides as if everybody could take an offer and, if that makes one, again with what is known of the
// candidates: only what is allowed, and makes an offer, is worth looking at them.
func (r *Routes) OfferNext(ctx context.Context, workspace string, t task.Task, now time.Time,
	command func(handoff.Hints) handoff.Command,
) ([]event.Event, error) {
	events, err := handoff.Decide(t, command(handoff.Hints{Jitter: r.random.Jitter()}), now)
	if err != nil || !slices.ContainsFunc(events, isOffer) {
		return events, err
	}
	hints, err := r.nextHints(ctx, workspace, t, now)
	if err != nil {
		return nil, err
	}
	return r.Offering(ctx, workspace, t, now, hints, command)
}

func isOffer(e event.Event) bool {
	_, is := e.(event.OfferMade)
	return is
}

// nextHints is what is known of the candidates that a handoff under way may still be offered to.
func (r *Routes) nextHints(ctx context.Context, workspace string, t task.Task, now time.Time) (handoff.Hints, error) {
	h := t.InFlight()
	if h == nil {
		return handoff.Hints{Jitter: r.random.Jitter()}, nil
	}
	from := min(h.Next, len(h.Candidates))
	if !h.RetryAt.IsZero() || h.Stage == event.AwaitingApproval {
		return r.hints(ctx, workspace, task.Sender(&t, h), h.ID(t.ID), h.Candidates[from:], now)
	}
	return r.hints(ctx, workspace, task.Sender(&t, h), h.ID(t.ID), h.Candidates[min(from+1, len(h.Candidates)):], now)
}
