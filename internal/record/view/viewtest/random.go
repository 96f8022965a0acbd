package viewtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

var (
	names  = []string{"ann", "bob", "cy"}
	supers = []string{"", "ann", "bob"}
)

// randomTasks is the number of tasks in a random story.
const randomTasks = 3

// randomStories compares the views with a model after every story, and with a rebuild after all. Each story has a
// workspace of its own.
func randomStories(t *testing.T, open Open) {
	s := newStage(t, open)
	story := 0
	rapid.Check(t, func(rt *rapid.T) {
		story++
		s.ws = fmt.Sprintf("story-%d", story)
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			task := id(rapid.IntRange(1, randomTasks).Draw(rt, "task"))
			t := s.task(task)
			_ = s.try(task, s.anything(rt, task, t)) // most refusals are part of the game
		}
		for _, complaint := range s.compare(randomTasks) {
			rt.Error(complaint)
		}
	})
	s.verify()
}

// anything draws a command that makes some sense for the task as it is.
func (s *stage) anything(rt *rapid.T, task string, t task.Task) handoff.Command {
	one := func(of []string, what string) string { return rapid.SampledFrom(of).Draw(rt, what) }
	if !t.Exists() {
		c := handoff.Create{
			By: agentOf(one(names, "requester")), Task: task, Intent: "do it",
			Priority: rapid.SampledFrom(event.Priorities.Values()).Draw(rt, "priority"),
		}
		if rapid.Bool().Draw(rt, "operator") {
			c.By = operator
		}
		if rapid.Bool().Draw(rt, "deadline") {
			c.Deadline = s.now.Add(time.Hour)
		}
		return c
	}
	owner, n, offer := agentOf(t.Owner), 1, 0
	receiver := one(names, "receiver")
	if h := t.Handoff; h != nil {
		n, offer = h.N, h.Offer
		if len(h.To) > 0 {
			receiver = one(h.To, "addressee")
		}
	}
	commands := []handoff.Command{
		handoff.Start{By: identity.ParsePrincipal("", t.Requester)},
		handoff.Heartbeat{By: owner, Epoch: t.Epoch},
		handoff.Progress{By: owner, Epoch: t.Epoch, Note: "on"},
		handoff.Accept{By: agentOf(receiver), Handoff: n},
		handoff.Accept{By: agentOf(receiver), Handoff: n, Offer: offer},
		handoff.See{Agent: receiver, Handoff: n},
		handoff.Reject{By: agentOf(receiver), Handoff: n, Reason: event.Refused},
		handoff.Confirm{By: operator, Handoff: n},
		handoff.Withdraw{By: operator, Handoff: n},
		handoff.JoinClaim{Agent: one(names, "joiner"), Handoff: n},
		handoff.Approve{By: operator, Handoff: n},
		handoff.Deny{By: operator, Handoff: n, Detail: "no"},
		handoff.Takeover{By: agentOf(one(names, "taker")), Detail: "mine", Envelope: s.seal(t)},
		handoff.ApproveTakeover{By: operator, Takeover: t.TakeoverCount},
		handoff.DenyTakeover{By: operator, Takeover: t.TakeoverCount},
		handoff.Share{By: operator, To: one(names, "reader"), Envelope: s.seal(t)},
		handoff.ReadShare{By: agentOf(one(names, "reader")), Share: max(len(t.Shares), 1)},
		seeNotice(t, one(names, "told")),
		handoff.Replay{By: operator},
		handoff.Ask{By: owner, Epoch: t.Epoch, Question: "which one?", To: one(supers, "asked"), Desk: "billing"},
		handoff.Claim{By: operator, Ticket: ticketOf(t), Agent: one(names, "taker"), Envelope: s.seal(t)},
		handoff.Claim{By: operator, Ticket: ticketOf(t), Agent: one(names, "taker"), Envelope: s.seal(t)},
		handoff.Answer{By: operator, Ticket: ticketOf(t), Answer: "this one"},
		handoff.Release{By: operator, Ticket: ticketOf(t)},
		handoff.WithdrawTicket{By: operator, Ticket: ticketOf(t)},
		handoff.Tick{},
		handoff.Tick{Wake: true},
	}
	// What ends a task comes seldom, what moves it often.
	end := []handoff.Command{
		handoff.Complete{By: owner, Epoch: t.Epoch},
		handoff.Fail{By: owner, Epoch: t.Epoch, Detail: "no"},
		handoff.Cancel{By: operator},
		handoff.Discard{By: operator, Why: "old"},
	}
	switch rapid.IntRange(0, 9).Draw(rt, "sort") {
	case 0:
		return rapid.SampledFrom(end).Draw(rt, "end")
	case 1:
		s.now = s.now.Add(time.Duration(rapid.IntRange(1, 60).Draw(rt, "minutes")) * time.Minute)
		return handoff.Tick{Envelope: s.seal(t)}
	case 2, 3:
		return s.anyChildren(rt, t)
	case 4, 5:
		return s.anyRequest(rt, task)
	}
	i := rapid.IntRange(0, len(commands)-1).Draw(rt, "command")
	return commands[i]
}

func seeNotice(t task.Task, agent string) handoff.Command {
	if n := t.Notices.To(agent); n != nil {
		return handoff.SeeNotice{By: agentOf(agent), Notice: n.N}
	}
	return handoff.Tick{}
}

func ticketOf(t task.Task) int {
	if t.Ticket == nil {
		return 1
	}
	return t.Ticket.N
}

func (s *stage) anyRequest(rt *rapid.T, task string) handoff.Command {
	r := s.to(task, rapid.Permutation(names).Draw(rt, "candidates")[:rapid.IntRange(1, 3).Draw(rt, "how many")]...)
	r.NewWork, r.ReturnHome = true, rapid.Bool().Draw(rt, "home")
	switch rapid.IntRange(0, 3).Draw(rt, "kind") {
	case 0:
		r.Kind, r.Claim, r.Capability = event.Broadcast, true, "paint"
	case 1:
		r.Kind, r.Approver = event.Supervised, rapid.SampledFrom(supers).Draw(rt, "approver")
	case 2:
		r.Confirm = event.ConfirmExplicit
	}
	if rapid.IntRange(0, 3).Draw(rt, "desk") == 0 {
		r.Candidates = append(r.Candidates, event.Candidate{Desk: "billing", Tier: event.TierEscalation})
	}
	return r
}

// compare returns what is not as the folds say.
func (s *stage) compare(tasks int) (complaints []string) {
	want := newModel()
	for n := tasks; n >= 1; n-- {
		if t := s.task(id(n)); t.Exists() {
			want.add(t)
		}
	}
	check := func(what string, got any, err error, want any) {
		if g, w := fmt.Sprint(got), fmt.Sprint(want); err != nil || g != w {
			complaints = append(complaints, fmt.Sprintf("%s of %s: got %s, %v; want %s", what, s.ws, g, err, w))
		}
	}
	ids := func(f view.TaskFilter) ([]string, error) {
		tasks, err := s.views.Tasks(s.ctx, s.ws, f)
		out := []string{}
		for _, t := range tasks {
			out = append(out, t.ID)
		}
		return out, err
	}
	for _, state := range event.States.Values() {
		got, err := ids(view.TaskFilter{State: state})
		check("tasks "+string(state), got, err, append([]string{}, want.states[state]...))
	}
	for _, name := range append([]string{""}, names...) {
		box, err := s.views.Inbox(s.ctx, s.ws, name, view.InboxFilter{})
		got := []string{}
		for _, i := range box.Items {
			got = append(got, fmt.Sprintf("%s %s seen:%v ends:%v epoch:%d", i.Type, i.ID, i.Seen, i.Ends.Unix(), i.Epoch))
		}
		slices.Sort(got)
		expected := append([]string{}, want.inbox[name]...)
		slices.Sort(expected)
		check("inbox "+name, got, err, expected)
		held, err := s.views.Held(s.ctx, s.ws, name)
		if name != "" {
			check("held by "+name, held, err, want.held[name])
		}
	}
	for _, principal := range []string{"agent/ann", "agent/bob", "agent/cy", operator.String()} {
		open, err := s.views.OpenTaskCount(s.ctx, s.ws, principal)
		check("open of "+principal, open, err, want.open[principal])
	}
	s.compareCounts(want, check)
	list, err := s.views.Tickets(s.ctx, s.ws, view.TicketFilter{Live: true})
	tickets := []string{}
	for _, k := range list {
		tickets = append(tickets, ticketLine(k.Task, k.Ticket))
	}
	slices.Sort(tickets)
	slices.Sort(want.tickets)
	check("tickets", tickets, err, want.tickets)
	claims, err := s.views.Claims(s.ctx, s.ws, "paint")
	slices.Sort(want.claims)
	check("claims", claims, err, want.claims)
	due, _, err := s.views.Due(s.ctx, s.now.Add(1000*time.Hour), 100_000)
	got := map[string]bool{}
	for _, r := range due {
		if r.Workspace == s.ws {
			got[r.Task] = true
		}
	}
	check("due", got, err, want.due)
	return complaints
}

// compareCounts compares what is counted over all workspaces with the model of this one.
func (s *stage) compareCounts(want *model, check func(what string, got any, err error, want any)) {
	tasks, _, err := s.views.TaskCounts(s.ctx)
	parked, open := len(want.states[event.Parked]), 0
	for _, n := range want.open {
		open += n
	}
	check("counts of tasks", tasks[s.ws], err, view.TaskCount{Open: open, Requested: open, Parked: parked})
	var streams []ledger.Stream
	for n := 1; n <= randomTasks; n++ {
		streams = append(streams, ledger.StreamOf(s.ws, "task", id(n)))
	}
	disagreeing, err := s.views.Disagreeing(s.ctx, streams, 30)
	check("tasks whose rows disagree", len(disagreeing), err, 0)
	inboxes, err := s.views.InboxCounts(s.ctx)
	got, expected := map[string]int{}, map[string]int{}
	for _, c := range inboxes {
		if c.Workspace != s.ws {
			continue
		}
		got[c.Agent] = c.Items
		items, err := s.views.Inbox(s.ctx, s.ws, c.Agent, view.InboxFilter{Limit: view.MaxPage})
		var oldest time.Time
		for _, i := range items.Items {
			if !i.Type.Notice() && (i.Type != view.ItemShare || !s.task(i.Task).State.Final()) && (oldest.IsZero() || i.Since.Before(oldest)) {
				oldest = i.Since
			}
		}
		check("age of the inbox "+c.Agent, c.Oldest, err, oldest)
	}
	for name, items := range want.inbox {
		if len(items) > 0 {
			expected[name] = len(items)
		}
	}
	check("counts of inboxes", got, err, expected)
}

// model is what the folds of whole tasks say, by the shortest way.
type model struct {
	states map[event.State][]string
	inbox  map[string][]string
	held   map[string]int
	due    map[string]bool
	open   map[string]int
	claims []string

	tickets []string
}

func ticketLine(task string, k task.Ticket) string {
	return fmt.Sprintf("%s %s %s %q %q %q %d %v", event.TicketID(task, k.N), k.Kind, k.State, k.Desk, k.To, k.ClaimedBy, k.Reminders, k.Due.Unix())
}

func newModel() *model {
	return &model{
		states: map[event.State][]string{}, inbox: map[string][]string{}, held: map[string]int{}, due: map[string]bool{}, open: map[string]int{},
		claims: []string{}, tickets: []string{},
	}
}

func (m *model) add(t task.Task) {
	m.states[t.State] = append(m.states[t.State], t.ID)
	if !t.State.Final() {
		m.open[t.Requester]++
	}
	if !t.State.Final() && t.State != event.Parked {
		m.held[t.Owner]++
	}
	if !t.Due().IsZero() {
		m.due[t.ID] = true
	}
	if k := t.OpenTicket(); k != nil {
		m.tickets = append(m.tickets, ticketLine(t.ID, *k))
	}
	item := func(agent string, kind view.ItemType, id string, seen bool, ends time.Time, epoch uint64) {
		m.inbox[agent] = append(m.inbox[agent], fmt.Sprintf("%s %s seen:%v ends:%v epoch:%d", kind, id, seen, ends.Unix(), epoch))
	}
	source := map[string]string{"agent/ann": "ann", "agent/bob": "bob", "agent/cy": "cy", "ann": "ann", "bob": "bob", "cy": "cy"}
	for _, a := range t.Takeovers {
		item(source[t.Source()], view.ItemTakeover, event.TakeoverID(t.ID, a.N), false, time.Time{}, t.Epoch)
	}
	for _, a := range t.Shares {
		if !a.Read {
			item(a.To, view.ItemShare, event.ShareID(t.ID, a.N), false, time.Time{}, 0)
		}
	}
	if k := t.OpenTicket(); k != nil && k.Kind == event.TicketQuestion && k.To != "" {
		item(k.To, view.ItemQuestion, event.TicketID(t.ID, k.N), false, k.Due, 0)
	}
	if t.Resumed && t.Owner == "" {
		item(source[t.Source()], view.ItemReturned, t.ID, false, t.TakeUpBy, t.Epoch)
	} else if agent := source[t.Source()]; agent != "" {
		for kind, ids := range childItems(t) {
			for _, id := range ids {
				item(agent, kind, id, false, time.Time{}, t.Epoch)
			}
		}
	}
	for _, n := range t.Notices {
		if !n.Seen {
			item(n.Agent, view.ItemType(n.Kind), event.NoticeID(t.ID, n.N), false, time.Time{}, n.Epoch)
		}
	}
	h := t.InFlight()
	if h == nil {
		return
	}
	switch h.Stage {
	case event.AwaitingApproval:
		item(h.Approver, view.ItemApproval, h.ID(t.ID), false, h.ApprovalEnds, 0)
	case event.Accepted:
		item(source[h.From], view.ItemConfirm, h.ID(t.ID), false, h.ConfirmEnds, t.Epoch)
	case event.Offered:
		ends := h.AckEnds
		if ends.IsZero() {
			ends = h.OfferEnds
		}
		for _, to := range h.To {
			item(to, view.ItemOffer, h.ID(t.ID), slices.Contains(h.SeenBy, to), ends, 0)
		}
		if h.Claim {
			m.claims = append(m.claims, h.ID(t.ID))
		}
	default: // nobody waits for anything
	}
}
