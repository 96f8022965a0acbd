package scenario

import (
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
)

// channel creates a channel of the agent "lead" and subscribes agents to it.
func (h *harness) channel(name string, agentsNames ...string) {
	h.Helper()
	ok(h, h.agent("lead"), func(c caller.Caller) (channels.Channel, error) {
		return h.app.Channels.Create(ctx(h), c, channels.ChannelInput{Name: name})
	})
	for _, a := range agentsNames {
		h.subscribe(name, a)
	}
}

func (h *harness) subscribe(name, agent string) channels.Channel {
	h.Helper()
	return ok(h, h.agent(agent), func(c caller.Caller) (channels.Channel, error) {
		return h.app.Channels.Subscribe(ctx(h), c, channels.SubscriptionInput{Channel: name})
	})
}

func (h *harness) unsubscribe(name, agent string) channels.Channel {
	h.Helper()
	return ok(h, h.agent(agent), func(c caller.Caller) (channels.Channel, error) {
		return h.app.Channels.Unsubscribe(ctx(h), c, channels.SubscriptionInput{Channel: name})
	})
}

// no is a call that must be refused, with a hint.
func no[T any](t *harness, c caller.Caller, code refusal.Code, do func(caller.Caller) (T, error)) {
	t.Helper()
	_, err := call(c, do)
	r, refused := refusal.As(err)
	if !refused || r.Code != code || r.Hint == "" {
		t.Errorf("%v, want a refusal %s with a hint", err, code)
	}
}

func TestSubscribersComeAndGo(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob", "cy")
		h.channel("news", "bob", "cy", "bob")
		ch, err := h.app.Channels.Show(ctx(h), h.agent("bob"), "news")
		if err != nil || !slices.Equal(ch.Subscribers, []string{"bob", "cy"}) || ch.Owner != "agent/lead" {
			h.Fatalf("%+v, %v", ch, err)
		}
		if ch = h.unsubscribe("news", "bob"); !slices.Equal(ch.Subscribers, []string{"cy"}) {
			h.Errorf("%+v", ch)
		}
		no(h, h.agent("bob"), refusal.NotPermitted, func(c caller.Caller) (channels.Channel, error) {
			return h.app.Channels.Unsubscribe(ctx(h), c, channels.SubscriptionInput{Channel: "news", Agent: "cy"})
		})
		no(h, h.operator(), refusal.NotFound, func(c caller.Caller) (channels.Channel, error) {
			return h.app.Channels.Subscribe(ctx(h), c, channels.SubscriptionInput{Channel: "news", Agent: "nobody"})
		})
		no(h, h.as(identity.Auditor, "ida"), refusal.NotPermitted, func(c caller.Caller) (channels.Channel, error) {
			return h.app.Channels.Create(ctx(h), c, channels.ChannelInput{Name: "mine"})
		})
		ok(h, h.operator(), func(c caller.Caller) (channels.Channel, error) {
			return h.app.Channels.Describe(ctx(h), c, channels.DescribeInput{Name: "news", Description: "what is new"})
		})
		ok(h, h.agent("lead"), func(c caller.Caller) (channels.Channel, error) { return h.app.Channels.Remove(ctx(h), c, "news") })
		h.settle()
		if list, err := h.app.Channels.List(ctx(h), h.agent("cy"), channels.ChannelsInput{}); err != nil || len(list) != 0 {
			h.Errorf("after its removal: %+v, %v", list, err)
		}
	})
}

func TestARepeatedSubscriptionIsOneSubscription(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob")
		h.channel("news")
		c := h.agent("bob").WithKey("the-same")
		once := func(in channels.SubscriptionInput) (channels.Channel, error) {
			for {
				ch, err := h.app.Channels.Subscribe(ctx(h), c, in)
				if refusal.CodeOf(err) != refusal.Unknown {
					return ch, err
				}
			}
		}
		first, err := once(channels.SubscriptionInput{Channel: "news"})
		if err != nil {
			h.Fatal(err)
		}
		h.unsubscribe("news", "bob")
		again, err := once(channels.SubscriptionInput{Channel: "news"})
		if err != nil || again.Position != first.Position || len(again.Subscribers) != 1 {
			h.Errorf("the repeat: %+v, %v; the first: %+v", again, err, first)
		}
		if _, err := once(channels.SubscriptionInput{Channel: "news", Agent: "bob"}); refusal.CodeOf(err) != refusal.Conflict {
			h.Errorf("another request under the key: %v", err)
		}
		if ch, err := h.app.Channels.Show(ctx(h), h.agent("lead"), "news"); err != nil || len(ch.Subscribers) != 0 {
			h.Errorf("the repeat subscribed again: %+v, %v", ch, err)
		}
	})
}

func TestOneWorkspaceNeverSeesAnothersChannels(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob")
		h.channel("news", "bob")
		h.settle()
		stranger := caller.Caller{Principal: identity.Principal{Workspace: "elsewhere", Role: identity.Admin, Name: "eve"}}
		no(h, stranger, refusal.NotFound, func(c caller.Caller) (channels.Channel, error) { return h.app.Channels.Show(ctx(h), c, "news") })
		no(h, stranger, refusal.NotFound, func(c caller.Caller) (channels.Channel, error) { return h.app.Channels.Remove(ctx(h), c, "news") })
		if list, err := h.app.Channels.List(ctx(h), stranger, channels.ChannelsInput{}); err != nil || len(list) != 0 {
			h.Errorf("%+v, %v", list, err)
		}
		ch := ok(h, stranger, func(c caller.Caller) (channels.Channel, error) {
			return h.app.Channels.Create(ctx(h), c, channels.ChannelInput{Name: "news"})
		})
		if len(ch.Subscribers) != 0 || ch.Owner != "admin/eve" {
			h.Errorf("a channel of the same name elsewhere: %+v", ch)
		}
	})
}
