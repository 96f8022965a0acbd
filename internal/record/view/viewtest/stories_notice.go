package viewtest

import (
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
)

// noticeStory: a task that ends, or is taken away, is in the inboxes of the agents that did not cause it, once for each end.
func noticeStory(s *stage) {
	s.do(id(1), handoff.Create{By: agentOf("ann"), Task: id(1), Intent: "x"})
	s.do(id(1), s.to(id(1), "bob"))
	s.do(id(1), handoff.Accept{By: agentOf("bob"), Handoff: 1})
	s.wantInbox("ann")
	s.do(id(1), handoff.Takeover{By: agentOf("cy"), Detail: "mine"})
	s.do(id(1), handoff.ApproveTakeover{By: operator, Takeover: 1, Envelope: s.seal(s.task(id(1)))})
	item := s.wantInbox("bob", "taken "+event.NoticeID(id(1), 1))[0]
	if item.Task != id(1) || item.Epoch != 1 || item.From != "cy" || item.Detail != "by order of "+operator.Short()+": mine" || item.At != s.views.Position() {
		s.Errorf("what was taken: %+v", item)
	}
	s.wantInbox("ann")
	s.do(id(1), handoff.SeeNotice{By: agentOf("bob"), Notice: 1})
	s.wantInbox("bob")

	s.do(id(1), handoff.Cancel{By: operator, Detail: strings.Repeat("no", 600)})
	for agent, n := range map[string]int{"cy": 2, "ann": 3} {
		item := s.wantInbox(agent, "cancelled "+event.NoticeID(id(1), n))[0]
		if item.From != operator.Short() || len(item.Detail) != 500 || item.Intent != "x" {
			s.Errorf("what was cancelled, for %s: %+v", agent, item)
		}
	}
	s.wantInbox("bob") // it is not concerned any more
	s.do(id(1), handoff.SeeNotice{By: agentOf("cy"), Notice: 2})
	s.wantInbox("cy")
	s.wantInbox("ann", "cancelled "+event.NoticeID(id(1), 3))

	s.do(id(2), handoff.Create{By: agentOf("ann"), Task: id(2), Intent: "y"})
	s.do(id(2), handoff.Park{By: system, Why: "nobody there"})
	if item := s.wantInbox("ann", "cancelled "+event.NoticeID(id(1), 3), "parked "+event.NoticeID(id(2), 1))[1]; item.From != "system" || item.Detail != "returned: nobody there" {
		s.Errorf("what was parked: %+v", item)
	}
	s.do(id(2), handoff.Replay{By: operator})
	s.wantInbox("ann", "returned "+id(2), "cancelled "+event.NoticeID(id(1), 3)) // it lives again
	s.do(id(2), s.to(id(2), "bob"))
	s.do(id(2), handoff.Accept{By: agentOf("bob"), Handoff: 1})
	s.do(id(2), handoff.Complete{By: agentOf("bob"), Epoch: 1, Result: event.Result{Text: "fine"}})
	s.wantInbox("ann", "cancelled "+event.NoticeID(id(1), 3), "completed "+event.NoticeID(id(2), 2))
	s.wantInbox("bob")
}
