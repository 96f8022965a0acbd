package viewtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// record appends facts about an agent, a token or a channel as they are.
func record[E ledger.Named](s *stage, kind, name string, codec *ledger.Codec[E], events ...E) {
	s.Helper()
	s.now = s.now.Add(time.Second)
	if _, err := put(s, kind, name, codec, func([]E) ([]E, error) { return events, nil }); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) register(name string, capabilities ...string) {
	s.Helper()
	record[agent.Event](s, "agent", name, s.agents,
		agent.Registered{Name: name, Spec: agent.Spec{Kind: agent.KindAgent, Capabilities: capabilities}, At: s.now})
}

func agentStory(s *stage) {
	s.register("bob", "paint", "write")
	s.register("ann")
	s.register("cy")
	record[agent.Event](s, "agent", "ann", s.agents, agent.ReadinessChanged{From: agent.Ready, To: agent.Draining, By: agent.ByAgent})
	record[agent.Event](s, "agent", "cy", s.agents, agent.Removed{})
	got, err := s.views.Agents(s.ctx, s.ws)
	if err != nil || len(got) != 2 || got[0].Name != "ann" || got[1].Name != "bob" {
		s.Fatalf("agents: %+v, %v", got, err)
	}
	if got[0].Readiness() != agent.Draining || !got[1].Spec.Has("write") || got[1].Readiness() != agent.Ready {
		s.Errorf("agents: %+v", got)
	}
	s.wantLoads()
	s.register("cy", "sing")
	s.wantLoads()
	if got, err = s.views.Agents(s.ctx, s.ws); err != nil || len(got) != 3 || !got[2].Spec.Has("sing") {
		s.Errorf("after a return: %+v, %v", got, err)
	}
}

func tokenStory(s *stage) {
	for _, id := range []string{"zz", "aa", "mm"} {
		record[identity.Event](s, "token", id, s.tokens, identity.TokenCreated{ID: id, Workspace: s.ws, Role: identity.Agent, Name: "bob", Hash: "h" + id, At: s.now})
	}
	record[identity.Event](s, "token", "aa", s.tokens, identity.TokenRevoked{By: "admin/ann", At: s.now})
	got, err := s.views.Tokens(s.ctx, s.ws)
	if err != nil {
		s.Fatal(err)
	}
	ids := []string{}
	for _, token := range got {
		ids = append(ids, token.ID+" "+token.RevokedBy)
	}
	if want := []string{"zz ", "aa admin/ann", "mm "}; !slices.Equal(ids, want) {
		s.Errorf("tokens: %q, want %q", ids, want)
	}
}

// news makes channel events of what was said of it.
func (s *stage) news(name string, events ...channel.Event) {
	s.Helper()
	record(s, "channel", name, s.lists, events...)
}

func (s *stage) wantChannels(after string, limit, count int, want ...string) {
	s.Helper()
	got := []string{}
	list, err := s.views.Channels(s.ctx, s.ws, after, limit)
	for _, c := range list {
		got = append(got, c.Name+" "+strings.Join(c.Subscribers, "+"))
	}
	if err != nil || !slices.Equal(got, want) {
		s.Errorf("channels of %s after %q: %q, %v, want %q", s.ws, after, got, err, want)
	}
	if n, err := s.views.ChannelCount(s.ctx, s.ws); err != nil || n != count {
		s.Errorf("%s has %d channels, %v, want %d", s.ws, n, err, count)
	}
}

func channelStory(s *stage) {
	s.wantChannels("", 0, 0)
	for _, name := range []string{"news", "alarms", "olds"} {
		s.news(name, channel.Created{Name: name, Owner: "agent/ann", At: s.now})
	}
	s.news("news", channel.Subscribed{Agent: "cy"})
	s.news("news", channel.Subscribed{Agent: "bob"}, channel.Subscribed{Agent: "ann"})
	s.news("news", channel.Unsubscribed{Agent: "ann"}, channel.Described{Description: "what is new"})
	s.wantChannels("", 0, 3, "alarms ", "news bob+cy", "olds ")
	s.wantChannels("", 1, 3, "alarms ")
	s.wantChannels("alarms", 1, 3, "news bob+cy")
	s.wantChannels("olds", 1, 3)
	s.news("alarms", channel.Removed{})
	s.news("news", channel.Removed{})
	s.wantChannels("", 0, 1, "olds ")
	s.news("news", channel.Created{Name: "news", Owner: "agent/bob", At: s.now})
	s.wantChannels("", 0, 2, "news ", "olds ")
	if list, err := s.views.Channels(s.ctx, s.ws, "", 0); err != nil || list[0].Owner != "agent/bob" || list[0].Description != "" {
		s.Errorf("the next life of a channel: %+v, %v", list, err)
	}
}

func workspaceStory(s *stage) {
	play := func(ws string) {
		s.ws = ws
		s.register("bob")
		record[identity.Event](s, "token", "tt", s.tokens, identity.TokenCreated{ID: "tt", Workspace: ws, Role: identity.Agent, Name: ws, At: s.now})
		s.news("news", channel.Created{Name: "news", Owner: "admin/" + ws, At: s.now}, channel.Subscribed{Agent: ws})
		s.create(1, operator)
		s.do(id(2), handoff.Create{By: operator, Task: id(2), Intent: "of " + ws})
		r := s.to(id(2), "bob")
		r.Claim, r.Capability = true, "paint"
		s.do(id(2), r)
		s.do(id(1), s.to(id(1), "bob"), handoff.Accept{By: agentOf("bob"), Handoff: 1})
	}
	play("one")
	play("two")
	s.ws = "two"
	s.do(id(2), handoff.Cancel{By: operator})
	for ws, inbox := range map[string][]string{"one": {"offer " + event.HandoffID(id(2), 1)}, "two": {}, "three": {}} {
		s.ws = ws
		tasks, there := []string{id(2), id(1)}, 1
		if ws == "three" {
			tasks, there = nil, 0
		}
		s.wantTasks(view.TaskFilter{}, tasks...)
		s.wantTasks(view.TaskFilter{Involving: "bob"}, tasks...)
		s.wantInbox("bob", inbox...)
		s.wantHeld("bob", there)
		claims, err := s.views.Claims(s.ctx, ws, "paint")
		if err != nil || len(claims) != len(inbox) {
			s.Errorf("claims of %s: %q, %v", ws, claims, err)
		}
		agents, err := s.views.Agents(s.ctx, ws)
		if err != nil || len(agents) != there {
			s.Errorf("agents of %s: %v, %v", ws, agents, err)
		}
		tokens, err := s.views.Tokens(s.ctx, ws)
		if err != nil || len(tokens) != there || there == 1 && tokens[0].Principal.Name != ws {
			s.Errorf("tokens of %s: %v, %v", ws, tokens, err)
		}
		channels := []string{"news " + ws}[:there]
		s.wantChannels("", 0, there, channels...)
		for _, t := range s.list(view.TaskFilter{}) {
			if strings.HasPrefix(t.Intent, "of ") && t.Intent != "of "+ws {
				s.Errorf("%s sees %q", ws, t.Intent)
			}
		}
	}
}

func watchStory(s *stage) {
	task := s.create(1, operator)
	bob, stop := s.views.Watch(s.ws, "bob")
	defer stop()
	cy, stopCy := s.views.Watch(s.ws, "cy")
	defer stopCy()
	elsewhere, stopElsewhere := s.views.Watch("other", "bob")
	defer stopElsewhere()
	operators, stopOperators := s.views.Watch(s.ws, "")
	defer stopOperators()
	anything, stopAnything := s.views.Watch("", "")
	called := func(name string, ch <-chan struct{}, want bool) {
		s.Helper()
		select {
		case <-ch:
			if !want {
				s.Errorf("%s was called for nothing", name)
			}
		default:
			if want {
				s.Errorf("%s was not called", name)
			}
		}
	}
	s.do(task, s.to(task, "bob"))
	called("bob", bob, true)
	called("bob again", bob, false)
	called("cy", cy, false)
	called("bob elsewhere", elsewhere, false)
	called("operators", operators, false)
	called("anything", anything, true)
	s.do(task, handoff.Reject{By: agentOf("bob"), Handoff: 1, Reason: event.Refused})
	called("bob, when it goes", bob, true)
	s.create(2, agentOf("ann"))
	r := s.to(id(2), "cy")
	r.Kind = event.Supervised
	s.do(id(2), r)
	called("operators, for an approval", operators, true)
	called("cy, who is not asked yet", cy, false)
	called("anything, once for many", anything, true)
	called("anything, once for many", anything, false)
	stopAnything()
	s.do(id(2), handoff.Cancel{By: operator})
	called("operators, when it goes", operators, true)
	called("who has stopped", anything, false)
}

func watchTaskStory(s *stage) {
	s.create(1, operator)
	one, stop := s.views.WatchTask(s.ws, id(1))
	other, stopOther := s.views.WatchTask(s.ws, id(2))
	defer stopOther()
	elsewhere, stopElsewhere := s.views.WatchTask("other", id(1))
	defer stopElsewhere()
	called := func(when string, want bool) {
		s.Helper()
		if got := len(one) > 0; got != want {
			s.Errorf("%s: called is %v", when, got)
		}
		if want {
			<-one
		}
		if len(other) > 0 || len(elsewhere) > 0 {
			s.Errorf("%s: another was called", when)
		}
	}
	called("before anything", false)
	s.do(id(1), s.to(id(1), "bob"))
	called("a handoff", true)
	s.do(id(1), handoff.Accept{By: agentOf("bob"), Handoff: 1})
	called("an owner", true)
	s.do(id(1), handoff.Progress{By: agentOf("bob"), Epoch: 1, Note: "half of it"})
	called("progress", true)
	s.create(3, operator)
	called("another task", false)
	s.do(id(1), handoff.Complete{By: agentOf("bob"), Epoch: 1})
	called("its end", true)
	stop()
	s.do(id(1), handoff.Annotate{By: operator, Entry: uint64(s.views.Position()), Note: "well done"})
	called("who has stopped", false)
}

func waitStory(s *stage) {
	s.create(1, operator)
	at := s.views.Position()
	if last, err := s.ledger.Last(s.ctx); err != nil || at != last {
		s.Errorf("the views are at %d, the ledger at %d, %v", at, last, err)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	none := make(chan error, 1)
	go func() { none <- s.views.Wait(ctx, at+1_000_000) }()
	soon := make(chan error, 1)
	go func() { soon <- s.views.Wait(s.ctx, at+1) }()
	s.create(2, operator)
	if err := <-soon; err != nil {
		s.Error(err)
	}
	s.wantTasks(view.TaskFilter{}, id(2), id(1))
	cancel()
	if err := <-none; !errors.Is(err, context.Canceled) {
		s.Errorf("the wait for what does not come ended with %v", err)
	}
}
