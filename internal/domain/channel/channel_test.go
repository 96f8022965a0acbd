package channel_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/ruletest"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

var (
	update = flag.Bool("update", false, "write the frozen events again; only for events that were never released")

	noon     = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	writer   = identity.Principal{Role: identity.Agent, Name: "writer"}
	reviewer = identity.Principal{Role: identity.Agent, Name: "reviewer"}
	operator = identity.Principal{Role: identity.Operator, Name: "olga"}
)

// wire is one channel's stream in a test.
type wire = ruletest.Stream[channel.State, channel.Command, channel.Event]

func newWire(t *testing.T) *wire {
	return &wire{TB: t, Decide: channel.Decide, Fold: channel.Fold, Now: noon}
}

func TestAgentsComeAndGoAndAPublisherReachesTheOthers(t *testing.T) {
	w := newWire(t)
	w.Refused(channel.Subscribe{By: writer, Name: "news"}, refusal.NotFound)
	w.Do(channel.Create{By: writer, Name: "news", Description: "what is new"}, "channel-created")
	w.Do(channel.Create{By: writer, Name: "news", Description: "what is new"})
	w.Do(channel.Subscribe{By: writer, Name: "news"}, "channel-subscribed")
	w.Do(channel.Subscribe{By: writer, Name: "news", Agent: "writer"})
	w.Do(channel.Subscribe{By: reviewer, Name: "news"}, "channel-subscribed")
	w.Do(channel.Subscribe{By: operator, Name: "news", Agent: "archivist"}, "channel-subscribed")
	if got := w.State.Receivers("writer"); !slices.Equal(got, []string{"archivist", "reviewer"}) || !w.State.Has("writer") {
		t.Errorf("receivers %v of %v", got, w.State.Subscribers)
	}
	w.Do(channel.Unsubscribe{By: reviewer, Name: "news"}, "channel-unsubscribed")
	w.Do(channel.Unsubscribe{By: reviewer, Name: "news"})
	w.Do(channel.Describe{By: writer, Name: "news", Description: "old"}, "channel-described")
	w.Do(channel.Describe{By: operator, Name: "news", Description: "old"})
	w.Do(channel.Remove{By: writer, Name: "news"}, "channel-removed")
	w.Refused(channel.Remove{By: writer, Name: "news"}, refusal.NotFound)
	w.Do(channel.Create{By: reviewer, Name: "news"}, "channel-created")
	if s := w.State; s.Owner != "agent/reviewer" || len(s.Subscribers) != 0 || s.Description != "" {
		t.Errorf("the next life begins as %+v", s)
	}
}

func TestWhatIsNotAllowedIsRefused(t *testing.T) {
	w := newWire(t)
	w.Do(channel.Create{By: writer, Name: "news"}, "channel-created")
	for _, c := range []struct {
		code    refusal.Code
		command channel.Command
	}{
		{refusal.Unauthenticated, channel.Remove{Name: "news"}},
		{refusal.Invalid, channel.Create{By: writer, Name: "../news"}},
		{refusal.Invalid, channel.Describe{By: writer, Name: "olds"}},
		{refusal.Conflict, channel.Create{By: reviewer, Name: "news"}},
		{refusal.Conflict, channel.Create{By: writer, Name: "news", Description: "else"}},
		{refusal.NotPermitted, channel.Describe{By: reviewer, Name: "news"}},
		{refusal.NotPermitted, channel.Remove{By: reviewer, Name: "news"}},
		{refusal.NotPermitted, channel.Subscribe{By: reviewer, Name: "news", Agent: "writer"}},
		{refusal.NotPermitted, channel.Unsubscribe{By: writer, Name: "news", Agent: "reviewer"}}, // not even its owner
		{refusal.Invalid, channel.Subscribe{By: operator, Name: "news"}},
		{refusal.Invalid, channel.Subscribe{By: operator, Name: "news", Agent: "A B"}},
		{refusal.TooLarge, channel.Describe{By: writer, Name: "news", Description: strings.Repeat("x", 2001)}},
		{refusal.Invalid, channel.Describe{By: writer, Name: "news", Description: "a\u202eb"}},
		{refusal.Invalid, channel.Describe{By: writer, Name: "news", Description: "\xff"}},
	} {
		w.Refused(c.command, c.code)
	}
}

func TestAChannelReachesNoMoreThanATaskMayHaveChildren(t *testing.T) {
	if channel.MaxSubscribers > event.MaxChildren {
		t.Fatalf("%d subscribers, %d children", channel.MaxSubscribers, event.MaxChildren)
	}
	w := newWire(t)
	w.Do(channel.Create{By: writer, Name: "news"}, "channel-created")
	for n := range channel.MaxSubscribers {
		w.Do(channel.Subscribe{By: operator, Name: "news", Agent: fmt.Sprintf("a%d", n)}, "channel-subscribed")
	}
	w.Refused(channel.Subscribe{By: writer, Name: "news"}, refusal.Limit)
	w.Do(channel.Subscribe{By: operator, Name: "news", Agent: "a7"})
}

func TestSubscribersAreASetWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s channel.State
		want := map[string]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "commands") {
			agent := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "agent")
			by := identity.Principal{Role: identity.Agent, Name: agent}
			c := rapid.SampledFrom([]channel.Command{
				channel.Create{By: by, Name: "n"},
				channel.Subscribe{By: by, Name: "n"},
				channel.Unsubscribe{By: by, Name: "n"},
				channel.Remove{By: by, Name: "n"},
			}).Draw(t, "command")
			events, err := channel.Decide(s, c, noon)
			before := slices.Clone(s.Subscribers)
			old := s
			for _, e := range events {
				s = channel.Fold(s, e)
			}
			if !slices.Equal(before, old.Subscribers) {
				t.Fatal("an older state has changed")
			}
			if err != nil {
				continue
			}
			switch c.(type) {
			case channel.Create:
				if len(events) > 0 {
					clear(want)
				}
			case channel.Subscribe:
				want[agent] = true
			case channel.Unsubscribe:
				delete(want, agent)
			}
			for _, a := range []string{"a", "b", "c", "d"} {
				if s.Has(a) != want[a] {
					t.Fatalf("%v, want %v", s.Subscribers, want)
				}
			}
			if !slices.IsSorted(s.Subscribers) || len(s.Subscribers) != len(want) {
				t.Fatalf("%v, want %v", s.Subscribers, want)
			}
		}
	})
}

func TestTheJSONOfEventsIsFrozen(t *testing.T) {
	all := []channel.Event{
		channel.Created{Name: "news", Description: "what is <new>", Owner: "agent/writer", At: noon},
		channel.Described{Description: "old"},
		channel.Subscribed{Agent: "writer"},
		channel.Unsubscribed{Agent: "writer"},
		channel.Removed{},
	}
	ledgertest.Frozen(t, *update, channel.Events, all)
}
