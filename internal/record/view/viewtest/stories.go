package viewtest

import (
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

func handoffStory(s *stage) {
	task := s.create(1, operator)
	h := event.HandoffID(task, 1)
	s.do(task, s.to(task, "bob"))
	offered := s.now
	got := s.list(view.TaskFilter{})[0]
	if got.State != event.HandingOff || got.Stage != event.Offered || !slices.Equal(got.To, []string{"bob"}) || got.Handoff != h ||
		got.Requester != "operator/olga" || got.Intent != "do 1" || !got.Updated.Equal(offered) {
		s.Errorf("after the request: %+v", got)
	}
	item := s.wantInbox("bob", "offer "+h)[0]
	if item.Task != task || item.Offer != 1 || item.From != "operator/olga" || item.Intent != "do 1" || item.Detail != "please" ||
		item.Seen || !item.Since.Equal(offered) || !item.Ends.Equal(offered.Add(10*time.Minute)) || item.At != got.At ||
		item.Envelope == "" || item.Reason != event.ReasonSpecialization || item.Kind != event.Warm || item.Claim {
		s.Errorf("the offer: %+v", item)
	}
	s.do(task, handoff.See{Agent: "bob", Handoff: 1})
	seen := s.wantInbox("bob", "offer "+h)[0]
	if !seen.Seen || seen.At != item.At || !seen.Since.Equal(item.Since) || !seen.Ends.Equal(s.now.Add(15*time.Second)) {
		s.Errorf("the offer once seen: %+v", seen)
	}
	s.do(task, handoff.Accept{By: agentOf("bob"), Handoff: 1})
	s.wantInbox("bob")
	s.wantHeld("bob", 1)
	got = s.list(view.TaskFilter{})[0]
	if got.State != event.Executing || got.Owner != "bob" || got.Epoch != 1 || got.Stage != event.Transferred || got.To != nil || got.Hops != 1 {
		s.Errorf("after the acceptance: %+v", got)
	}
	s.do(task, handoff.Complete{By: agentOf("bob"), Epoch: 1, Result: event.Result{Text: "done"}})
	s.wantHeld("bob", 0)
	got = s.list(view.TaskFilter{State: event.Completed})[0]
	if got.Owner != "bob" || !got.Updated.Equal(s.now) {
		s.Errorf("after the end: %+v", got)
	}
}

func listStory(s *stage) {
	for n := 1; n <= 7; n++ {
		s.create(n, agentOf("ann"))
	}
	s.do(id(1), handoff.Start{By: agentOf("ann")}, handoff.Complete{By: agentOf("ann"), Epoch: 1})
	s.do(id(2), handoff.Start{By: agentOf("ann")}, handoff.Fail{By: agentOf("ann"), Epoch: 1, Detail: "no"})
	s.do(id(3), handoff.Start{By: agentOf("ann")})
	s.do(id(4), handoff.Start{By: agentOf("ann")}, handoff.Cancel{By: operator})
	s.do(id(5), s.to(id(5), "bob"))
	s.do(id(6), s.to(id(6), "bob"), handoff.Accept{By: agentOf("bob"), Handoff: 1})
	s.do(id(8), handoff.Create{By: system, For: "agent/cy", Task: id(8), Intent: "child" + strings.Repeat(" hay", 100) + " needle", Parent: event.Parent{Task: id(6), Index: 1}})

	s.wantTasks(view.TaskFilter{}, id(8), id(7), id(6), id(5), id(4), id(3), id(2), id(1))
	s.wantTasks(view.TaskFilter{Limit: 3}, id(8), id(7), id(6))
	s.wantTasks(view.TaskFilter{Limit: 3, After: id(6)}, id(5), id(4), id(3))
	s.wantTasks(view.TaskFilter{After: id(1)})
	s.wantTasks(view.TaskFilter{Text: "CHILD"}, id(8))
	s.wantTasks(view.TaskFilter{Text: "ann agent", Limit: 2}, id(7), id(6))
	s.wantTasks(view.TaskFilter{Text: "ann agent", Limit: 2, After: id(3)}, id(2), id(1))
	s.wantTasks(view.TaskFilter{Text: "ann", Live: true, After: id(5)}, id(3))
	s.wantTasks(view.TaskFilter{Text: "ann child"})
	s.wantTasks(view.TaskFilter{Text: "Child NEEDLE"}, id(8)) // which no row shows
	s.wantTasks(view.TaskFilter{Live: true}, id(8), id(7), id(6), id(5), id(3))
	s.wantTasks(view.TaskFilter{Live: true, After: id(6), Limit: 1}, id(5))
	for state, want := range map[event.State][]string{
		event.Completed: {id(1)}, event.Failed: {id(2)}, event.Executing: {id(6), id(3)}, event.Cancelled: {id(4)},
		event.HandingOff: {id(5)}, event.Pending: {id(8), id(7)}, event.Parked: {}, event.Waiting: {},
	} {
		s.wantTasks(view.TaskFilter{State: state}, want...)
	}
	s.wantTasks(view.TaskFilter{State: event.Completed, Live: true})
	s.wantTasks(view.TaskFilter{State: event.Pending, Live: true, After: id(8)}, id(7))
	s.wantTasks(view.TaskFilter{Owner: "ann"}, id(4), id(3), id(2), id(1))
	s.wantTasks(view.TaskFilter{Owner: "ann", Live: true}, id(3))
	s.wantTasks(view.TaskFilter{Owner: "bob", State: event.Executing}, id(6))
	s.wantTasks(view.TaskFilter{Owner: "ann", State: event.Failed}, id(2))
	s.wantTasks(view.TaskFilter{Parent: id(6)}, id(8))
	s.wantTasks(view.TaskFilter{Parent: id(6), Deep: true, Text: "needle"}, id(8))
	s.wantTasks(view.TaskFilter{Parent: id(6), Owner: "ann"})
	s.wantTasks(view.TaskFilter{Involving: "bob"}, id(6), id(5))
	s.wantTasks(view.TaskFilter{Involving: "bob", After: id(6)}, id(5))
	s.wantTasks(view.TaskFilter{Involving: "bob", Owner: "bob"}, id(6))
	s.wantTasks(view.TaskFilter{Involving: "ann", Live: true}, id(7), id(6), id(5), id(3))
	s.wantTasks(view.TaskFilter{Involving: "ann", State: event.Failed}, id(2))
	s.wantTasks(view.TaskFilter{Involving: "ann", State: event.Completed}, id(1))
	s.wantTasks(view.TaskFilter{Involving: "cy", Parent: id(6)}, id(8))
	s.wantTasks(view.TaskFilter{Involving: "bob", Owner: "ann", Live: true})
	s.wantTasks(view.TaskFilter{Involving: "bob", Owner: "ann"})
	s.wantTasks(view.TaskFilter{Involving: "nobody"})
	s.wantTasks(view.TaskFilter{IDs: []string{id(5), id(8), id(99), id(6)}}, id(8), id(6), id(5))
	s.wantTasks(view.TaskFilter{IDs: []string{id(5), id(8), id(6)}, Involving: "bob"}, id(6), id(5))
	s.wantTasks(view.TaskFilter{IDs: []string{id(5), id(8), id(1)}, State: event.Pending, Live: true}, id(8))
	s.wantTasks(view.TaskFilter{Involving: "operator/olga"})
	s.create(9, operator)
	s.wantTasks(view.TaskFilter{Involving: "operator/olga"}, id(9))
}

func orderStory(s *stage) {
	for n, priority := range []event.Priority{event.Normal, event.Low, event.Urgent, event.Normal, event.High} {
		s.do(id(n), handoff.Create{By: operator, Task: id(n), Intent: "x", Priority: priority})
	}
	for _, n := range []int{1, 3, 0, 4, 2} {
		s.do(id(n), s.to(id(n), "bob"))
	}
	s.wantInbox("bob", "offer "+event.HandoffID(id(2), 1), "offer "+event.HandoffID(id(4), 1), "offer "+event.HandoffID(id(3), 1),
		"offer "+event.HandoffID(id(0), 1), "offer "+event.HandoffID(id(1), 1))
	box, err := s.views.Inbox(s.ctx, s.ws, "bob", view.InboxFilter{Limit: 2})
	if err != nil || len(box.Items) != 2 || box.Items[1].Task != id(4) {
		s.Errorf("the first two: %+v, %v", box, err)
	}
}

func claimStory(s *stage) {
	task := s.create(1, operator)
	h := event.HandoffID(task, 1)
	r := s.to(task, "bob", "cy", "dee")
	r.Kind, r.Claim, r.Capability = event.Broadcast, true, "paint"
	s.do(task, r)
	if i := s.wantInbox("cy", "offer "+h)[0]; !i.Claim {
		s.Errorf("not a claim: %+v", i)
	}
	s.wantClaims("paint", h)
	s.do(task, handoff.See{Agent: "cy", Handoff: 1}, handoff.Reject{By: agentOf("bob"), Handoff: 1, Reason: event.Refused})
	s.wantInbox("bob")
	first := s.wantInbox("dee", "offer "+h)[0]
	if i := s.wantInbox("cy", "offer "+h)[0]; !i.Seen || first.Seen {
		s.Errorf("seen by cy alone: %+v, %+v", i, first)
	}
	s.do(task, handoff.JoinClaim{Agent: "eve", Handoff: 1})
	if i := s.wantInbox("eve", "offer "+h)[0]; i.At <= first.At || !i.Since.Equal(s.now) {
		s.Errorf("who joins later waits since then: %+v", i)
	}
	s.do(task, handoff.Accept{By: agentOf("eve"), Handoff: 1})
	for _, name := range []string{"bob", "cy", "dee", "eve"} {
		s.wantInbox(name)
		s.wantTasks(view.TaskFilter{Involving: name}, task)
	}
	s.wantClaims("paint")
}

func (s *stage) wantClaims(capability string, want ...string) {
	s.Helper()
	got, err := s.views.Claims(s.ctx, s.ws, capability)
	if err != nil || !slices.Equal(got, want) {
		s.Errorf("claims for %s: %q, %v; want %q", capability, got, err, want)
	}
}

func publishStory(s *stage) {
	publish := func(n int, change func(*handoff.Send)) string {
		task := s.create(n, operator)
		r := s.to(task, "bob", "cy")
		r.Kind, r.Claim, r.Channel = event.Broadcast, true, "news"
		r.Passed = []event.Passed{{Agent: "dee", Why: "offline"}, {Agent: "eve", Why: "full"}}
		if change != nil {
			change(&r)
		}
		s.do(task, r)
		return task
	}
	first := publish(1, nil)
	second := publish(2, nil)
	if i := s.inbox("bob")[0]; i.Channel != "news" || !i.Claim {
		s.Errorf("the offer: %+v", i)
	}
	publish(3, func(r *handoff.Send) { r.Channel = "" }) // passed over by routing, and no subscriber
	publish(4, func(r *handoff.Send) { r.Kind, r.Claim = event.Warm, false })
	one, two := event.HandoffID(first, 1), event.HandoffID(second, 1)
	s.wantMissed("dee", one, two)
	s.wantMissed("eve", one, two)
	s.wantMissed("bob")
	s.wantClaims("dee")
	s.do(first, handoff.Accept{By: agentOf("bob"), Handoff: 1})
	s.wantMissed("dee", two)
	s.do(second, handoff.Withdraw{By: operator, Handoff: 1})
	s.wantMissed("dee")
	s.do(second, func() handoff.Command {
		r := s.to(second, "bob")
		r.Kind, r.Claim, r.Channel, r.Passed = event.Broadcast, true, "olds", []event.Passed{{Agent: "cy", Why: "busy"}}
		return r
	}())
	s.wantMissed("dee")
	s.wantMissed("cy", event.HandoffID(second, 2))
	s.ws = "elsewhere"
	s.wantMissed("cy")
}

func (s *stage) wantMissed(name string, want ...string) {
	s.Helper()
	got, err := s.views.MissedClaims(s.ctx, s.ws, name)
	if err != nil || !slices.Equal(got, want) {
		s.Errorf("missed by %s: %q, %v; want %q", name, got, err, want)
	}
}

func waitingStory(s *stage) {
	want := func(agent string, want ...string) {
		s.Helper()
		if got, err := s.views.Waiting(s.ctx, s.ws, agent); err != nil || !slices.Equal(got, want) {
			s.Errorf("waiting for %s: %q, %v; want %q", agent, got, err, want)
		}
	}
	first, second := s.create(1, operator), s.create(2, operator)
	for _, task := range []string{first, second} {
		r := s.to(task, "bob", "cy")
		r.By, r.Hints = system, handoff.Hints{Unfit: map[string]string{"bob": "circuit", "cy": "circuit"}, Later: s.now.Add(time.Hour)}
		s.do(task, r)
	}
	one, two := event.HandoffID(first, 1), event.HandoffID(second, 1)
	want("bob", one, two)
	want("cy", one, two)
	want("dee")
	s.wantClaims("bob")
	s.wantMissed("bob")
	s.do(first, handoff.Tick{Wake: true, Hints: handoff.Hints{Unfit: map[string]string{"bob": "circuit"}}})
	s.wantInbox("cy", "offer "+one)
	want("bob", two)
	want("cy", two)
	s.do(second, handoff.Cancel{By: operator})
	want("bob")
	s.ws = "elsewhere"
	want("cy")
}

func openStory(s *stage) {
	want := func(principal string, want int) {
		s.Helper()
		if got, err := s.views.OpenTaskCount(s.ctx, s.ws, principal); err != nil || got != want {
			s.Errorf("%s has %d open in %s, %v; want %d", principal, got, s.ws, err, want)
		}
	}
	want("agent/ann", 0)
	for n := 1; n <= 3; n++ {
		s.create(n, agentOf("ann"))
	}
	s.create(4, operator)
	want("agent/ann", 3)
	want("operator/olga", 1)
	s.do(id(1), handoff.Start{By: agentOf("ann")}, handoff.Complete{By: agentOf("ann"), Epoch: 1})
	s.do(id(2), handoff.Park{By: system, Why: "nobody"})
	want("agent/ann", 2) // dead letters count
	s.do(id(2), handoff.Discard{By: operator, Why: "enough"})
	s.do(id(3), handoff.Cancel{By: operator})
	want("agent/ann", 0)
	s.create(5, agentOf("ann"))
	want("agent/ann", 1)
	s.ws = "elsewhere"
	want("agent/ann", 0)
}

func rejectionStory(s *stage) {
	task := s.create(1, agentOf("ann"))
	s.do(task, handoff.Start{By: agentOf("ann")}, s.to(task, "bob", "cy"))
	first := s.wantInbox("bob", "offer "+event.HandoffID(task, 1))[0]
	s.do(task, handoff.Reject{By: agentOf("bob"), Handoff: 1, Reason: event.Overloaded})
	s.wantInbox("bob")
	second := s.wantInbox("cy", "offer "+event.HandoffID(task, 1))[0]
	if second.Offer != 2 || second.At <= first.At || second.From != "ann" {
		s.Errorf("the second offer: %+v", second)
	}
	s.do(task, handoff.Reject{By: agentOf("cy"), Handoff: 1, Reason: event.NotCapable})
	s.wantInbox("cy")
	if got := s.list(view.TaskFilter{})[0]; got.Owner != "ann" || got.State != event.Executing || got.Stage != event.Rejected {
		s.Errorf("back with its source: %+v", got)
	}
	s.wantHeld("ann", 1)
}

func approvalStory(s *stage) {
	task := s.create(1, agentOf("ann"))
	s.do(task, handoff.Start{By: agentOf("ann")})
	ask := func(approver string) {
		r := s.to(task, "bob")
		r.By, r.Epoch, r.Kind, r.Approver, r.NewWork = agentOf("ann"), 1, event.Supervised, approver, true
		s.do(task, r)
	}
	ask("")
	i := s.wantInbox("", "approval "+event.HandoffID(task, 1))[0]
	if i.From != "ann" || !i.Ends.Equal(s.now.Add(24*time.Hour)) || i.Envelope == "" {
		s.Errorf("the approval: %+v", i)
	}
	s.wantInbox("bob")
	s.do(task, handoff.Deny{By: operator, Handoff: 1, Detail: "not now"})
	s.wantInbox("")
	ask("eve")
	s.wantInbox("")
	s.wantInbox("eve", "approval "+event.HandoffID(task, 2))
	s.wantTasks(view.TaskFilter{Involving: "eve"}, task)
	s.do(task, handoff.Approve{By: agentOf("eve"), Handoff: 2})
	s.wantInbox("eve")
	s.wantInbox("bob", "offer "+event.HandoffID(task, 2))
}

func confirmStory(s *stage) {
	task := s.create(1, agentOf("ann"))
	s.do(task, handoff.Start{By: agentOf("ann")})
	r := s.to(task, "bob")
	r.Confirm = event.ConfirmExplicit
	s.do(task, r, handoff.Accept{By: agentOf("bob"), Handoff: 1})
	s.wantInbox("bob")
	i := s.wantInbox("ann", "confirm "+event.HandoffID(task, 1))[0]
	if i.From != "bob" || i.Epoch != 1 || !i.Ends.Equal(s.now.Add(time.Minute)) {
		s.Errorf("the confirm: %+v", i)
	}
	s.do(task, handoff.Confirm{By: agentOf("ann"), Epoch: 1, Handoff: 1})
	s.wantInbox("ann")
	s.wantHeld("ann", 0)
	s.wantHeld("bob", 1)
}

func shareStory(s *stage) {
	task := s.create(1, agentOf("ann"))
	s.do(task, handoff.Start{By: agentOf("ann")})
	s.do(task, handoff.Share{By: agentOf("ann"), Epoch: 1, To: "bob", Detail: "look", Envelope: s.seal(s.task(task))},
		handoff.Share{By: agentOf("ann"), Epoch: 1, To: "bob", Detail: "again"})
	items := s.wantInbox("bob", "share "+event.ShareID(task, 1), "share "+event.ShareID(task, 2))
	if i := items[0]; i.Detail != "look" || i.From != "ann" || i.Envelope == "" {
		s.Errorf("the share: %+v", i)
	}
	s.wantTasks(view.TaskFilter{Involving: "bob"}, task)
	s.do(task, handoff.Takeover{By: agentOf("cy"), Detail: "mine"}, handoff.Takeover{By: agentOf("dee"), Detail: "no, mine"})
	items = s.wantInbox("ann", "takeover "+event.TakeoverID(task, 1), "takeover "+event.TakeoverID(task, 2))
	if i := items[1]; i.From != "dee" || i.Detail != "no, mine" || i.Epoch != 1 {
		s.Errorf("the ask: %+v", i)
	}
	s.do(task, handoff.DenyTakeover{By: agentOf("ann"), Epoch: 1, Takeover: 1})
	s.wantInbox("ann", "takeover "+event.TakeoverID(task, 2))
	s.do(task, handoff.ApproveTakeover{By: agentOf("ann"), Epoch: 1, Takeover: 2})
	s.wantInbox("ann")
	s.wantHeld("dee", 1)
	s.do(task, handoff.ReadShare{By: agentOf("bob"), Share: 1}, handoff.Complete{By: agentOf("dee"), Epoch: 2})
	s.wantInbox("bob", "share "+event.ShareID(task, 2))
	if counts, err := s.views.InboxCounts(s.ctx); err != nil || slices.ContainsFunc(counts, func(c view.InboxCount) bool { return c.Agent == "bob" && !c.Oldest.IsZero() }) {
		s.Errorf("%v: a share of a task that has ended waits: %+v", err, counts)
	}
	s.do(task, handoff.ReadShare{By: agentOf("bob"), Share: 2})
	s.wantInbox("bob")
}

func dependentStory(s *stage) {
	first := s.create(1, operator)
	s.do(id(2), handoff.Create{By: operator, Task: id(2), Intent: "x", Dependencies: []event.Dependency{{Task: first, State: event.Pending}}})
	s.do(id(3), handoff.Create{By: operator, Task: id(3), Intent: "x", Dependencies: []event.Dependency{{Task: id(2), State: event.Pending}, {Task: first, State: event.Pending}}})
	want := func(task string, want ...string) {
		s.Helper()
		got, err := s.views.Dependents(s.ctx, s.ws, task)
		if err != nil || !slices.Equal(got, want) {
			s.Errorf("dependents of %s: %q, %v; want %q", task, got, err, want)
		}
	}
	want(first, id(2), id(3))
	want(id(2), id(3))
	s.do(id(2), handoff.Cancel{By: operator})
	want(first, id(3))
	s.do(id(3), handoff.Cancel{By: operator})
	want(first)
	want(id(2))
}

func dueStory(s *stage) {
	start := s.now
	for n, after := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
		s.do(id(n), handoff.Create{By: operator, Task: id(n), Intent: "x", Deadline: start.Add(after)})
	}
	s.create(9, operator) // no clock
	want := func(by time.Time, limit int, next time.Time, want ...string) {
		s.Helper()
		refs, first, err := s.views.Due(s.ctx, by, limit)
		got := []string{}
		for _, r := range refs {
			if r.Workspace != s.ws {
				s.Errorf("due in workspace %q", r.Workspace)
			}
			got = append(got, r.Task)
		}
		if err != nil || !slices.Equal(got, want) || !first.Equal(next) {
			s.Errorf("due by %v: %q, then %v, %v; want %q, then %v", by, got, first, err, want, next)
		}
	}
	want(start, 10, start.Add(time.Hour))
	want(start.Add(time.Hour-time.Nanosecond), 10, start.Add(time.Hour))
	want(start.Add(time.Hour), 10, start.Add(2*time.Hour), id(1))
	want(start.Add(9*time.Hour), 2, start.Add(3*time.Hour), id(1), id(2))
	want(start.Add(9*time.Hour), 10, time.Time{}, id(1), id(2), id(0))
	s.do(id(1), handoff.Cancel{By: operator})
	want(start.Add(9*time.Hour), 10, time.Time{}, id(2), id(0))
	s.do(id(9), s.to(id(9), "bob"), handoff.Accept{By: agentOf("bob"), Handoff: 1})
	lease := s.now.Add(30 * time.Minute)
	want(start, 10, lease)
	s.do(id(9), handoff.Progress{By: agentOf("bob"), Epoch: 1, Note: "half"})
	want(lease, 10, s.now.Add(30*time.Minute))
}

func previewStory(s *stage) {
	intent := strings.Repeat("é", 700)
	s.do(id(1), handoff.Create{By: operator, Task: id(1), Intent: intent})
	r := s.to(id(1), "bob")
	r.Detail = strings.Repeat("ü", 600)
	s.do(id(1), r)
	if got := s.list(view.TaskFilter{})[0].Intent; got != strings.Repeat("é", 200) {
		s.Errorf("a list shows %d bytes of the intent", len(got))
	}
	i := s.inbox("bob")[0]
	if i.Intent != strings.Repeat("é", 500) || i.Detail != strings.Repeat("ü", 500) {
		s.Errorf("an inbox shows %d bytes of the intent and %d of the detail", len(i.Intent), len(i.Detail))
	}
}

func deadStory(s *stage) {
	task := s.create(1, operator)
	s.do(task, s.to(task, "bob"), handoff.Reject{By: agentOf("bob"), Handoff: 1, Reason: event.Refused, Detail: "no"})
	s.wantTasks(view.TaskFilter{State: event.Parked}, task)
	got := s.list(view.TaskFilter{State: event.Parked, Live: true})[0]
	if got.Parked == nil || got.Parked.Cause != event.ParkReturned || got.Parked.Detail == "" || !got.Parked.Since.Equal(s.now) {
		s.Errorf("the dead letter: %+v", got.Parked)
	}
	s.do(task, handoff.Replay{By: operator, Route: []string{"bob", "ann"}}, s.to(task, "bob"), handoff.Reject{By: agentOf("bob"), Handoff: 2, Reason: event.Refused, Detail: "no"})
	if got := s.list(view.TaskFilter{State: event.Parked})[0]; got.Parked == nil || !slices.Equal(got.Parked.Route, []string{"bob", "ann"}) {
		s.Errorf("the dead letter with a route: %+v", got.Parked)
	}
	s.do(task, handoff.Replay{By: operator})
	s.wantTasks(view.TaskFilter{State: event.Parked})
	if got := s.list(view.TaskFilter{State: event.Pending})[0]; got.Parked != nil {
		s.Errorf("still parked: %+v", got)
	}
}

func cursorStory(s *stage) {
	want := func(name string, want ledger.Position) {
		s.Helper()
		if got, err := s.views.Cursor(s.ctx, name); err != nil || got != want {
			s.Errorf("cursor %s: %d, %v; want %d", name, got, err, want)
		}
	}
	want("courier", 0)
	for _, at := range []ledger.Position{3, 7} {
		if err := s.views.SaveCursor(s.ctx, "courier", at); err != nil {
			s.Fatal(err)
		}
		want("courier", at)
	}
	s.create(1, operator)
	if err := s.views.Rebuild(s.ctx); err != nil {
		s.Fatal(err)
	}
	want("courier", 7)
	want("other", 0)
}
