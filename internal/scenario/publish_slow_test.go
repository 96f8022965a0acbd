//go:build slow || outside

package scenario

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestAClaimOnAChannelOfManyHasOneOwner(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead")
		var names []string
		for n := range 100 { // more than routing lists for a capability
			names = append(names, fmt.Sprintf("a%02d", n))
		}
		h.join(names...)
		h.channel("news", append(names, "lead")...)
		r := h.publish("news", handoffs.SendInput{Reason: event.ReasonSpecialization})
		if r.Stage != event.Offered || len(r.To) != len(names) || slices.Contains(r.To, "lead") {
			h.Fatalf("offered to %d: %+v", len(r.To), r)
		}
		items := make([]view.Item, len(names))
		for i, name := range names {
			items[i] = h.of(r.Task, name)
			if item := items[i]; item.Channel != "news" || !item.Claim || item.ID != r.Handoff {
				h.Errorf("the offer: %+v", item)
			}
		}
		winners := make([]string, len(names))
		together(len(names), func(i int) {
			item := items[i]
			a, err := call(h.agent(names[i]), func(c caller.Caller) (tasks.Accepted, error) {
				return h.app.Tasks.Accept(ctx(h), c, tasks.AcceptInput{Handoff: item.ID, Offer: item.Offer})
			})
			if err == nil {
				winners[i] = a.Owner
			}
		})
		winners = slices.DeleteFunc(winners, func(w string) bool { return w == "" })
		got := h.task(r.Task)
		if len(winners) != 1 || got.Owner != winners[0] || got.Handoff.Channel != "news" {
			h.Errorf("winners %v, owner %s, handoff %+v", winners, got.Owner, got.Handoff)
		}
	})
}

func TestAFullChannelTakesNobodyMoreAndReachesAll(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("lead", "one-more")
		h.channel("news")
		for n := range channel.MaxSubscribers {
			name := fmt.Sprintf("a%d", n)
			h.join(name)
			h.subscribe("news", name)
		}
		no(h, h.agent("one-more"), refusal.Limit, func(c caller.Caller) (channels.Channel, error) {
			return h.app.Channels.Subscribe(ctx(h), c, channels.SubscriptionInput{Channel: "news"})
		})
		if r := h.publish("news", handoffs.SendInput{}); len(r.To) != channel.MaxSubscribers {
			h.Errorf("a claim of %d", len(r.To))
		}
		r := h.publish("news", handoffs.SendInput{FanOut: true})
		if children := h.task(r.Task).Children; len(children) != channel.MaxSubscribers {
			h.Errorf("%d copies", len(children))
		}
	})
}

func TestWhoSubscribesLaterGetsNothingOfWhatWasPublishedBefore(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob", "late", "busy", "gone")
		h.register("small", agents.AgentSpec{ContextWindow: 50})
		h.channel("news", "bob", "busy", "gone", "small")
		h.ready("busy", agent.Busy)
		h.ready("gone", agent.Busy)
		claim := h.publish("news", handoffs.SendInput{})
		copies := h.publish("news", handoffs.SendInput{FanOut: true})
		h.subscribe("news", "late")
		h.unsubscribe("news", "gone")
		for _, name := range []string{"late", "small", "busy", "gone"} {
			h.ready(name, agent.Busy)
			h.ready(name, agent.Ready)
		}
		// A subscriber of then that was only not ready may still claim it; there are no more copies.
		if item := h.of(claim.Task, "busy"); item.ID != claim.Handoff {
			h.Errorf("%+v", item)
		}
		time.Sleep(time.Minute)
		h.empty("late")
		h.empty("small") // it has no room for what was published
		h.empty("gone")
		if children := h.task(copies.Task).Children; len(children) != 1 || children[0].To != "bob" {
			h.Errorf("children %+v", children)
		}
		if got := h.task(claim.Task); !slices.Contains(got.Handoff.To, "bob") || slices.Contains(got.Handoff.To, "late") {
			h.Errorf("offered to %v", got.Handoff.To)
		}
	})
}

func TestWhatWasPublishedOutlivesItsChannel(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob")
		h.channel("news", "bob")
		r := h.publish("news", handoffs.SendInput{})
		ok(h, h.agent("lead"), func(c caller.Caller) (channels.Channel, error) { return h.app.Channels.Remove(ctx(h), c, "news") })
		h.refuseToPublish(handoffs.SendInput{Channel: "news"}, refusal.NotFound)
		if a := h.accept("bob", h.of(r.Task, "bob")); a.Owner != "bob" {
			h.Errorf("%+v", a.Receipt)
		}
		h.channel("news")
		h.refuseToPublish(handoffs.SendInput{Channel: "news"}, refusal.Conflict) // its next life has no subscribers
	})
}

func TestNobodyStandsInForASubscriber(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "stand-in", "boss", "cy")
		h.register("bob", agents.AgentSpec{Fallbacks: []string{"stand-in"}, Escalation: []string{"boss"}})
		h.channel("news", "bob", "cy")
		h.ready("bob", agent.Offline)
		r := h.publish("news", handoffs.SendInput{})
		got := h.task(r.Task)
		if len(got.Handoff.Candidates) != 1 || got.Handoff.Candidates[0].Agent != "cy" {
			h.Errorf("candidates %+v", got.Handoff.Candidates)
		}
		h.ready("cy", agent.Offline)
		h.refuseToPublish(handoffs.SendInput{Channel: "news"}, refusal.Unavailable)
	})
}
