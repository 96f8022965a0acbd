package viewtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// spawn has the owner of a task delegate parts of it.
func (s *stage) spawn(t task.Task, mode event.FanInMode, to ...string) handoff.Spawn {
	c := handoff.Spawn{
		By: agentOf(t.Owner), Epoch: t.Epoch, Kind: event.Broadcast, FanIn: event.FanIn{Mode: mode}, Reason: event.ReasonSpecialization,
		NewWork: true, Envelope: s.seal(t),
	}
	for i, name := range to {
		c.Children = append(c.Children, event.NewChild{Task: childOf(t, t.NextChild()+i), Index: t.NextChild() + i, To: name, Intent: "a part"})
	}
	return c
}

// childOf names a child of a task.
func childOf(t task.Task, index int) string {
	return fmt.Sprintf("task_%s%03d", t.ID[len("task_")+3:], index)
}

// strandedStory: what a parent waits for and cannot get by itself, and what it has got, is in its owner's inbox.
func strandedStory(s *stage) {
	s.do(id(1), handoff.Create{By: agentOf("ann"), Task: id(1), Intent: "x"}, handoff.Start{By: agentOf("ann")})
	t := s.task(id(1))
	first, second := childOf(t, 0), childOf(t, 1)
	s.do(id(1), s.spawn(t, event.FanInAll, "bob", "cy"))
	s.wantInbox("ann")

	s.do(id(1), handoff.EndChild{Child: first, State: event.Parked, Why: "returned: bob turned it down"})
	item := s.wantInbox("ann", "stranded "+first)[0]
	if item.Task != id(1) || item.Epoch != 1 || item.From != "bob" || item.Detail != "returned: bob turned it down" || item.At != s.views.Position() {
		s.Errorf("what is stranded: %+v", item)
	}
	s.do(id(1), handoff.EndChild{Child: first, State: event.Pending}) // an operator has replayed it
	s.wantInbox("ann")
	s.do(id(1), handoff.EndChild{Child: first, State: event.Parked, Why: "exhausted: nobody answered"})
	s.do(id(1), handoff.EndChild{Child: second, State: event.Parked})
	s.do(id(1), handoff.EndChild{Child: second, State: event.Parked, Why: "exhausted: cy did not answer"}) // replayed, and there again
	if item := s.inbox("ann")[1]; item.Detail != "exhausted: cy did not answer" {
		s.Errorf("what is stranded for another reason: %+v", item)
	}
	s.wantInbox("ann", "stranded "+first, "stranded "+second)

	s.do(id(1), handoff.EndChild{Child: first, State: event.Cancelled})
	s.wantInbox("ann", "stranded "+second)
	s.do(id(1), handoff.EndChild{Child: second, State: event.Completed})
	item = s.wantInbox("ann", "resumed "+id(1))[0]
	if item.From != "bob, cy" || item.Detail != "1 of 2 completed, 2 needed" || item.Epoch != 1 || item.At != s.views.Position() {
		s.Errorf("what has come in: %+v", item)
	}
	s.now = s.now.Add(15 * time.Minute)
	s.do(id(1), handoff.Heartbeat{By: agentOf("ann"), Epoch: 1})
	s.wantInbox("ann", "resumed "+id(1)) // it lives, and may know nothing of them yet
	s.do(id(1), handoff.Progress{By: agentOf("ann"), Epoch: 1, Note: "read it"})
	s.wantInbox("ann")

	s.do(id(1), s.spawn(s.task(id(1)), event.FanInFirst, "bob"), handoff.EndChild{Child: childOf(t, 2), State: event.Completed})
	s.wantInbox("ann", "resumed "+id(1))
	s.do(id(1), s.to(id(1), "bob"))
	s.wantInbox("ann")
	s.do(id(1), handoff.Withdraw{By: agentOf("ann"), Epoch: 1, Handoff: 1})
	s.wantInbox("ann") // it took the task back itself
	s.do(id(1), s.to(id(1), "bob"), handoff.Withdraw{By: operator, Handoff: 2})
	s.wantInbox("ann", "resumed "+id(1)) // another principal did
	s.do(id(1), handoff.Progress{By: agentOf("ann"), Epoch: 1, Note: "saw it"})

	s.do(id(2), handoff.Create{By: operator, Task: id(2), Intent: "y"})
	c := s.spawn(s.task(id(2)), event.FanInAll, "bob")
	c.By = operator
	s.do(id(2), c, handoff.EndChild{Child: c.Children[0].Task, State: event.Parked})
	s.wantInbox("") // operators have the dead letters
}

// resumedStory: a task that is its owner's to go on with again is in the owner's inbox, until the owner does something about it.
func resumedStory(s *stage) {
	s.do(id(1), handoff.Create{By: agentOf("ann"), Task: id(1), Intent: "x"}, handoff.Start{By: agentOf("ann")})
	s.do(id(1), handoff.Ask{By: agentOf("ann"), Epoch: 1, Question: "which one?"})
	s.wantInbox("ann")
	s.do(id(1), handoff.Answer{By: operator, Ticket: 1, Answer: "this one"})
	item := s.wantInbox("ann", "resumed "+id(1))[0]
	if item.From != operator.String() || item.Detail != "answered: this one" || item.Task != id(1) || item.Epoch != 1 {
		s.Errorf("what was answered: %+v", item)
	}
	s.do(id(1), handoff.Heartbeat{By: agentOf("ann"), Epoch: 1})
	s.wantInbox("ann", "resumed "+id(1))
	s.do(id(1), handoff.Heartbeat{By: agentOf("ann"), Epoch: 1, Told: true})
	s.wantInbox("ann") // it has the answer
	s.do(id(1), handoff.Ask{By: agentOf("ann"), Epoch: 1, Question: "and now?"})
	s.wantInbox("ann")
	s.do(id(1), handoff.WithdrawTicket{By: agentOf("ann"), Epoch: 1, Ticket: 2})
	s.wantInbox("ann") // who took a question back knows

	s.do(id(1), s.to(id(1), "bob"))
	s.do(id(1), handoff.Reject{By: agentOf("bob"), Handoff: 1, Reason: event.NotCapable, Detail: "no Rust"})
	item = s.wantInbox("ann", "resumed "+id(1))[0]
	if item.From != "system" || !strings.Contains(item.Detail, "bob turned it down: not capable: no Rust") {
		s.Errorf("what came back: %+v", item)
	}
	s.do(id(1), handoff.Complete{By: agentOf("ann"), Epoch: 1})
	s.wantInbox("ann")
}

// anyChildren draws a fan-out, or what comes of one.
func (s *stage) anyChildren(rt *rapid.T, t task.Task) handoff.Command {
	if t.State != event.Waiting {
		if t.Resumed && rapid.Bool().Draw(rt, "idle") {
			return handoff.Heartbeat{By: agentOf(t.Owner), Epoch: t.Epoch}
		}
		var start handoff.Sequence
		if name := agentNamed(t.Requester); t.State == event.Pending && t.Owner == "" && name != "" {
			start, t.Owner, t.Epoch = handoff.Sequence{handoff.Start{By: agentOf(name)}}, name, t.Epoch+1
		}
		mode := rapid.SampledFrom([]event.FanInMode{event.FanInAll, event.FanInAll, event.FanInFirst, event.FanInNone}).Draw(rt, "fan-in")
		return append(start, s.spawn(t, mode, rapid.Permutation(names).Draw(rt, "receivers")[:rapid.IntRange(1, 3).Draw(rt, "parts")]...))
	}
	open := slices.DeleteFunc(slices.Clone(t.Children), func(c task.Child) bool { return c.State.Final() })
	if len(open) == 0 { // it waits for people
		return handoff.Tick{}
	}
	return handoff.EndChild{
		Child: rapid.SampledFrom(open).Draw(rt, "child").Task, Why: rapid.SampledFrom([]string{"", "no", "never"}).Draw(rt, "why"),
		State: rapid.SampledFrom([]event.State{event.Parked, event.Parked, event.Pending, event.Completed, event.Failed}).Draw(rt, "end"),
	}
}

func agentNamed(principal string) string {
	role, name, _ := strings.Cut(principal, "/")
	if role != "agent" {
		return ""
	}
	return name
}

// childItems is what the children of a task put into the inbox of the agent behind it.
func childItems(t task.Task) map[view.ItemType][]string {
	items := map[view.ItemType][]string{}
	for _, c := range t.Stranded() {
		items[view.ItemStranded] = append(items[view.ItemStranded], c.Task)
	}
	if t.Resumed {
		items[view.ItemResumed] = []string{t.ID}
	}
	return items
}
