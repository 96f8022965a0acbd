package courier

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// react does what an entry makes necessary on other streams: it creates children, tells parents and dependents, reports to
// circuits, joins claims. It may be called again for the same entry, and must be called for each at least once, in order; then
// no effect across streams is lost.
func (c *Courier) react(ctx context.Context, e ledger.Entry) error {
	name, kind, id := e.Stream.Parts()
	switch kind {
	case workspace.StreamKind:
		return c.reactWorkspace(ctx, id, e)
	case ledger.TaskKind, agentKind:
		if arriving, err := c.do.IsArriving(ctx, name); err != nil || arriving {
			return err
		}
	}
	switch kind {
	case ledger.TaskKind:
		return c.reactTask(ctx, name, id, e)
	case agentKind:
		return c.reactAgent(ctx, name, id, e)
	}
	return nil
}

// agentKind is the kind of the streams of agents.
const agentKind = "agent"

// reacts holds the names of the events that reactEvent handles: others need not be decoded.
var reacts = func() map[string]bool {
	names := map[string]bool{}
	for _, ev := range []event.Event{
		event.Spawned{},
		event.Joined{},
		event.Finished{},
		event.GaveUp{},
		event.ParkedTask{},
		event.Replayed{},
		event.Called{},
		event.Discarded{},
		event.Created{},
		event.DependencyEnded{},
		event.Unanswered{},
		event.LeaseLost{},
		event.OwnerStuck{},
		event.OfferMade{},
		event.Moved{},
		event.Constrained{},
		event.Lifted{},
		event.Returned{},
		event.TicketClosed{},
		event.RetryScheduled{},
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

func (c *Courier) reactEvent(ctx context.Context, workspace, id string, e ledger.Entry, ev event.Event) error {
	switch ev := ev.(type) {
	case event.Spawned:
		return c.do.CreateChildren(ctx, workspace, id, e, ev)
	case event.Joined:
		if err := c.do.CancelAll(ctx, workspace, ev.Cancel, "no longer needed: "+ev.Why); err != nil {
			return err
		}
		return c.do.TellEnd(ctx, workspace, id, e, ev)
	case event.Finished:
		return c.ended(ctx, workspace, id, ev.Agent, e, ev)
	case event.GaveUp:
		return c.ended(ctx, workspace, id, ev.Agent, e, ev)
	case event.ParkedTask:
		return c.do.TellEnd(ctx, workspace, id, e, ev)
	case event.Replayed:
		if err := c.do.TellEnd(ctx, workspace, id, e, ev); err != nil {
			return err
		}
		return c.takeUp(ctx, workspace, id, ev.TakeUpBy)
	case event.Returned:
		return c.takeUp(ctx, workspace, id, ev.TakeUpBy)
	case event.TicketClosed:
		return c.takeUp(ctx, workspace, id, ev.TakeUpBy)
	case event.Called, event.Discarded:
		if err := c.do.CancelChildren(ctx, workspace, e); err != nil {
			return err
		}
		return c.do.TellEnd(ctx, workspace, id, e, ev)
	case event.Created:
		return c.do.CheckDependencies(ctx, workspace, id, ev)
	case event.DependencyEnded:
		return c.do.SetOut(ctx, workspace, id)
	case event.Constrained:
		return c.do.Bind(ctx, workspace, e, ev.Constraint)
	case event.Lifted:
		return c.do.Unbind(ctx, workspace, e, ev)
	case event.Unanswered:
		if ev.Again { // one slow handoff is one failure
			return nil
		}
		return c.do.Report(ctx, workspace, ev.Agent, e, agent.Unanswered, ev.Sender, id, ev.Handoff)
	case event.LeaseLost:
		return c.do.Report(ctx, workspace, ev.Agent, e, agent.LeaseLost, ev.Sender, id, 0)
	case event.OwnerStuck:
		if ev.By != "" { // a report of an agent is not a measurement
			return nil
		}
		return c.do.Report(ctx, workspace, ev.Agent, e, agent.LeaseLost, ev.Sender, id, 0)
	case event.RetryScheduled:
		return c.do.WakeLate(ctx, workspace, id, e)
	case event.OfferMade:
		if len(ev.To) != 1 {
			return nil
		}
		return c.do.Relieve(ctx, workspace, ev.To[0], e)
	case event.Moved:
		if err := c.do.Report(ctx, workspace, ev.To, e, agent.Accepted, ev.OnAccountOf(), id, ev.Handoff); err != nil {
			return err
		}
		if ev.Hop { // its source handed it on, and was not lost
			if err := c.do.Report(ctx, workspace, ev.From, e, agent.Ended, "", id, 0); err != nil {
				return err
			}
		}
		return c.do.Relieve(ctx, workspace, ev.To, e)
	}
	return nil
}

// ended does what the end of a task makes necessary, which its owner reported.
func (c *Courier) ended(ctx context.Context, workspace, id, owner string, e ledger.Entry, ev event.Event) error {
	if err := c.do.Report(ctx, workspace, owner, e, agent.Ended, "", id, 0); err != nil {
		return err
	}
	return c.do.TellEnd(ctx, workspace, id, e, ev)
}

// takeUp looks whether the requester is there to take up a task that came back; a zero time: nobody is to do that.
func (c *Courier) takeUp(ctx context.Context, workspace, id string, by time.Time) error {
	if by.IsZero() {
		return nil
	}
	return c.do.TakeUp(ctx, workspace, id)
}

func (c *Courier) reactAgent(ctx context.Context, workspace, name string, e ledger.Entry) error {
	for _, ev := range e.Events {
		switch ev.Name {
		case agent.CircuitClosed{}.EventName(), agent.CircuitReset{}.EventName():
			if err := c.do.Wake(ctx, workspace, name, e.Position); err != nil {
				return err
			}
			return c.do.JoinClaims(ctx, workspace, name, e.Position)
		case agent.Registered{}.EventName(), agent.Updated{}.EventName(), agent.ReadinessChanged{}.EventName(), agent.PresenceReturned{}.EventName():
			return c.do.JoinClaims(ctx, workspace, name, e.Position)
		case agent.Removed{}.EventName():
			return c.do.TakeUpAll(ctx, workspace, e)
		}
	}
	return nil
}
