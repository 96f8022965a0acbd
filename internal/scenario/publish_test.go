package scenario

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// publish makes a task of the agent "lead" and hands it to a channel in one call.
func (h *harness) publish(name string, in handoffs.SendInput) taskstore.Receipt {
	h.Helper()
	in.Channel = name
	return h.create(h.agent("lead"), tasks.CreateInput{Intent: "look at this", Send: &in})
}

// refuseToPublish checks that nothing can be published to a channel, and why.
func (h *harness) refuseToPublish(in handoffs.SendInput, code refusal.Code) {
	h.Helper()
	no(h, h.agent("lead"), code, func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "look at this", Send: &in})
	})
}

func (h *harness) ready(name string, r agent.Readiness) {
	h.Helper()
	ok(h, h.agent(name), func(c caller.Caller) (agents.Agent, error) {
		return h.app.Agents.SetReadiness(ctx(h), c, agents.ReadinessInput{Name: name, Readiness: r})
	})
}

// of waits for an agent's inbox item of a task.
func (h *harness) of(task, agent string) view.Item {
	h.Helper()
	return h.waitFor(agent, func(i view.Item) bool { return i.Task == task })
}

func TestAFanOutGivesEachSubscriberItsCopyUnderAStableID(t *testing.T) {
	story(t, func(h *harness) {
		names := []string{"ann", "bob", "cy"}
		h.join("lead")
		h.join(names...)
		h.channel("news", names...)
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "look at this", Start: true})
		sent := h.send(h.agent("lead"), r, handoffs.SendInput{Channel: "news", FanOut: true})
		if sent.State != event.Waiting {
			h.Fatalf("%+v", sent)
		}
		parent := h.task(r.Task)
		ids := map[string]bool{}
		for i, name := range names {
			item := h.wait(name)
			child := parent.Children[i]
			if item.Task != child.Task || child.To != name || item.ID != event.HandoffID(child.Task, 1) || item.Channel != "news" {
				h.Errorf("%s got %+v, child %+v", name, item, child)
			}
			ids[item.ID] = true
		}
		if len(ids) != len(names) {
			h.Errorf("%d copies for %d subscribers", len(ids), len(names))
		}
		// At least once: a repeated delivery has the same id.
		spawn, ev := h.spawned(r.Task)
		for range 2 {
			if err := h.app.FollowUp.CreateChildren(context.Background(), identity.DefaultWorkspace, r.Task, spawn, ev); err != nil && refusal.CodeOf(err) != refusal.Unknown {
				h.Fatal(err)
			}
		}
		h.settle()
		for _, name := range names {
			box, err := call(h.agent(name), func(c caller.Caller) (view.Inbox, error) {
				return h.app.Tasks.Inbox(ctx(h), c, tasks.InboxInput{Peek: true})
			})
			if err != nil || len(box.Items) != 1 || !ids[box.Items[0].ID] {
				h.Errorf("%s has %+v, %v", name, box.Items, err)
			}
			h.complete(name, h.accept(name, h.wait(name)).Receipt, "seen")
		}
		h.inState(r.Task, event.Executing)
	})
}

// spawned is the entry of a task's fan-out.
func (h *harness) spawned(task string) (found ledger.Entry, ev event.Spawned) {
	h.Helper()
	entries, err := h.ledger.Stream(ctx(h), ledger.StreamOf(identity.DefaultWorkspace, "task", task), 0, 100)
	if err != nil {
		h.Fatal(err)
	}
	codec := ledger.NewCodec(event.Events...)
	for _, e := range entries {
		for _, coded := range e.Events {
			d, err := codec.Decode(coded)
			if err != nil {
				h.Fatal(err)
			}
			if s, is := d.(event.Spawned); is {
				found, ev = e, s
			}
		}
	}
	return found, ev
}

func TestAnOfferThatIsRepeatedKeepsItsDeliveryID(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob")
		h.channel("news", "bob")
		r := h.publish("news", handoffs.SendInput{FanOut: true, FanIn: event.FanIn{Mode: event.FanInNone}})
		child := h.task(r.Task).Children[0].Task
		first := h.of(child, "bob") // seen, and not answered
		again := h.waitFor("bob", func(i view.Item) bool { return i.Task == child && i.Offer > first.Offer })
		if again.ID != first.ID || again.Channel != "news" {
			h.Errorf("first %+v, then %+v", first, again)
		}
	})
}

func TestUnsubscribingLeavesWhatIsOffered(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob", "cy")
		h.channel("news", "bob", "cy")
		r := h.publish("news", handoffs.SendInput{})
		item := h.of(r.Task, "bob")
		h.unsubscribe("news", "bob")
		if a := h.accept("bob", item); a.Owner != "bob" {
			h.Errorf("%+v", a.Receipt)
		}
		if next := h.publish("news", handoffs.SendInput{}); !slices.Equal(next.To, []string{"cy"}) {
			h.Errorf("published to %v", next.To)
		}
	})
}

func TestWhatCannotBePublishedIsRefused(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob", "gone")
		h.channel("empty")
		h.channel("mine", "lead")
		h.channel("news", "bob", "gone")
		h.refuseToPublish(handoffs.SendInput{Channel: "nothing"}, refusal.NotFound)
		h.refuseToPublish(handoffs.SendInput{Channel: "../news"}, refusal.Invalid)
		h.refuseToPublish(handoffs.SendInput{Channel: "empty"}, refusal.Conflict)
		h.refuseToPublish(handoffs.SendInput{Channel: "mine"}, refusal.Conflict)
		h.refuseToPublish(handoffs.SendInput{Channel: "news", To: []string{"bob"}}, refusal.Invalid)
		h.refuseToPublish(handoffs.SendInput{Channel: "news", Capability: "go"}, refusal.Invalid)
		h.refuseToPublish(handoffs.SendInput{Channel: "news", Kind: event.Warm}, refusal.Invalid)
		h.refuseToPublish(handoffs.SendInput{Channel: "news", Kind: event.Delegation}, refusal.Invalid)
		ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) { return h.app.Agents.Remove(ctx(h), c, "gone") })
		if r := h.publish("news", handoffs.SendInput{Kind: event.Broadcast}); !slices.Equal(r.To, []string{"bob"}) {
			h.Errorf("published to %v", r.To)
		}
		h.ready("bob", agent.Draining)
		_, err := call(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "look", Send: &handoffs.SendInput{Channel: "news"}})
		})
		if refusal.CodeOf(err) != refusal.Unavailable || !strings.Contains(err.Error(), "draining") {
			h.Errorf("nobody is fit: %v", err)
		}
	})
}

func TestOneWorkspacePublishesToItsOwnSubscribersAlone(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob")
		h.channel("news", "bob")
		stranger := caller.Caller{Principal: identity.Principal{Workspace: "elsewhere", Role: identity.Admin, Name: "eve"}}
		publish := func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "look", Send: &handoffs.SendInput{Channel: "news"}})
		}
		no(h, stranger, refusal.NotFound, publish)
		ok(h, stranger, func(c caller.Caller) (channels.Channel, error) {
			return h.app.Channels.Create(ctx(h), c, channels.ChannelInput{Name: "news"})
		})
		no(h, stranger, refusal.Conflict, publish)
		h.empty("bob")
	})
}
