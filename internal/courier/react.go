package courier

import (
	"context"

	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/registry"
)

// react does what follows from an entry on other streams: children are created, parents and dependents told,
// circuits informed, claims joined. It is safe to call again for the same entry, and must be called for each at least
// once, in order; then nothing that crosses streams is lost.
func (c *Courier) react(ctx context.Context, e ledger.Entry) error {
	workspace, kind, id := e.Stream.Parts()
	switch kind {
	case "task":
		return c.reactTask(ctx, workspace, id, e)
	case "agent":
		return c.reactAgent(ctx, workspace, id, e)
	}
	return nil
}

// reacts holds the names of the events that reactEvent knows: the others need not be decoded.
var reacts = func() map[string]bool {
	names := map[string]bool{}
	for _, ev := range []fact.Event{
		fact.Spawned{},
		fact.Joined{},
		fact.Finished{},
		fact.GaveUp{},
		fact.ParkedTask{},
		fact.Replayed{},
		fact.Called{},
		fact.Discarded{},
		fact.Created{},
		fact.DependencyEnded{},
		fact.Unanswered{},
		fact.LeaseLost{},
		fact.OwnerStuck{},
		fact.OfferMade{},
		fact.Moved{},
		fact.Constrained{},
	} {
		names[ev.EventName()] = true
	}
	return names
}()

func (c *Courier) reactTask(ctx context.Context, workspace, id string, e ledger.Entry) error {
	for _, ev := range e.Events {
		if !reacts[ev.Name] {
			continue
		}
		d, err := c.codec.Decode(ev)
		if err != nil {
			return err
		}
		if err := c.reactEvent(ctx, workspace, id, e, d); err != nil {
			return err
		}
	}
	return nil
}

func (c *Courier) reactEvent(ctx context.Context, workspace, id string, e ledger.Entry, ev fact.Event) error {
	switch ev := ev.(type) {
	case fact.Spawned:
		return c.app.CreateChildren(ctx, workspace, id, e, ev)
	case fact.Joined:
		if err := c.app.CancelAll(ctx, workspace, ev.Cancel, "no longer needed: "+ev.Why); err != nil {
			return err
		}
		return c.app.TellEnd(ctx, workspace, id, e, ev)
	case fact.Finished, fact.GaveUp, fact.ParkedTask, fact.Replayed:
		return c.app.TellEnd(ctx, workspace, id, e, ev)
	case fact.Called, fact.Discarded:
		if err := c.app.CancelChildren(ctx, workspace, e); err != nil {
			return err
		}
		return c.app.TellEnd(ctx, workspace, id, e, ev)
	case fact.Created:
		return c.app.CheckDependencies(ctx, workspace, id, ev)
	case fact.DependencyEnded:
		return c.app.SetOut(ctx, workspace, id)
	case fact.Constrained:
		return c.app.Bind(ctx, workspace, e, ev.Constraint)
	case fact.Unanswered:
		return c.app.Report(ctx, workspace, ev.Agent, e, registry.Unanswered, id, ev.Handoff)
	case fact.LeaseLost:
		return c.app.Report(ctx, workspace, ev.Agent, e, registry.LeaseLost, id, 0)
	case fact.OwnerStuck:
		if ev.By != "" { // what somebody says is no measurement
			return nil
		}
		return c.app.Report(ctx, workspace, ev.Agent, e, registry.LeaseLost, id, 0)
	case fact.OfferMade:
		if len(ev.To) != 1 {
			return nil
		}
		return c.app.Relieve(ctx, workspace, ev.To[0], e)
	case fact.Moved:
		if err := c.app.Report(ctx, workspace, ev.To, e, registry.Success, id, ev.Handoff); err != nil {
			return err
		}
		return c.app.Relieve(ctx, workspace, ev.To, e)
	}
	return nil
}

func (c *Courier) reactAgent(ctx context.Context, workspace, name string, e ledger.Entry) error {
	for _, ev := range e.Events {
		switch ev.Name {
		case "agent-registered", "agent-updated", "agent-readiness-changed", "agent-presence-returned", "circuit-closed", "circuit-reset":
			return c.app.JoinClaims(ctx, workspace, name, e.Position)
		}
	}
	return nil
}
