package viewtest

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// wantTickets compares a list of tickets with their ids, in order.
func (s *stage) wantTickets(f view.TicketFilter, want ...string) []view.TicketRow {
	s.Helper()
	list, err := s.views.Tickets(s.ctx, s.ws, f)
	if err != nil {
		s.Fatal(err)
	}
	got := []string{}
	for _, k := range list {
		got = append(got, k.ID)
	}
	if !slices.Equal(got, want) {
		s.Fatalf("tickets of %+v: got %q, want %q", f, got, want)
	}
	return list
}

func ticketStory(s *stage) {
	asking, moving, given := s.create(1, agentOf("ann")), s.create(2, agentOf("ann")), s.create(3, agentOf("eve"))
	question, approval, takeover := event.TicketID(asking, 1), event.TicketID(moving, 1), event.TicketID(given, 1)
	s.do(asking, handoff.Start{By: agentOf("ann")},
		handoff.Ask{By: agentOf("ann"), Epoch: 1, Desk: "billing", Question: "refund it?", Options: []string{"yes", "no"}})
	s.do(moving, handoff.Start{By: agentOf("ann")})
	r := s.to(moving, "bob")
	r.Kind, r.Approver = event.Supervised, "carl"
	s.do(moving, r)
	r = s.to(given)
	r.Candidates = []event.Candidate{{Desk: "legal"}}
	s.do(given, r)
	all := s.wantTickets(view.TicketFilter{}, question, approval, takeover)
	if k := all[0]; k.Question != "refund it?" || len(k.Options) != 2 || k.By != "ann" || k.Kind != event.TicketQuestion || k.Intent != "do 1" || !k.Due.Equal(k.Opened.Add(24*time.Hour)) {
		s.Errorf("the question: %+v", k)
	}
	if k := all[1]; k.Envelope == "" || k.To != "carl" || k.Handoff != 1 {
		s.Errorf("the approval: %+v", k)
	}
	s.wantTickets(view.TicketFilter{Limit: 1}, question)
	s.wantTickets(view.TicketFilter{After: after(question), Limit: 1}, approval)
	s.wantTickets(view.TicketFilter{After: after(takeover)})
	s.wantTickets(view.TicketFilter{Kind: event.TicketTakeover}, takeover)
	s.wantTickets(view.TicketFilter{Desk: "billing"}, question)
	s.wantTickets(view.TicketFilter{Task: moving}, approval)
	s.wantTickets(view.TicketFilter{Involving: "ann"}, question, approval)
	s.wantTickets(view.TicketFilter{Involving: "carl"}, approval)
	s.wantTickets(view.TicketFilter{Involving: "zoe"})
	s.wantTickets(view.TicketFilter{Involving: "zoe", Serves: []string{"billing", "legal", "operators"}}, question, takeover)
	s.ws = "elsewhere"
	s.wantTickets(view.TicketFilter{})
	s.ws = "main"

	s.do(given, handoff.Claim{By: agentOf("zoe"), Serves: []string{"legal"}, Ticket: 1, Agent: "zoe", Envelope: s.seal(s.task(given))})
	s.wantTickets(view.TicketFilter{State: event.TicketStateClaimed}, takeover)
	s.wantTickets(view.TicketFilter{State: event.TicketStateOpen}, question, approval)
	s.wantTickets(view.TicketFilter{Involving: "zoe"}, takeover)
	s.wantTickets(view.TicketFilter{Live: true, Claimants: []string{"operator/olga", "zoe"}}, question, approval, takeover)
	s.wantTickets(view.TicketFilter{Live: true, Claimants: []string{"agent/ann", "ann"}}, question, approval)
	s.wantHeld("zoe", 1)
	s.do(asking, handoff.Answer{By: operator, Ticket: 1, Answer: "yes"},
		handoff.Ask{By: agentOf("ann"), Epoch: 1, Question: "really?"})
	k, found, err := s.views.Ticket(s.ctx, s.ws, question)
	if err != nil || !found || k.Answer != "yes" || k.Outcome != event.TicketAnswered || k.State != event.TicketStateClosed {
		s.Errorf("the answer: %+v, %v, %v", k, found, err)
	}
	if _, found, err := s.views.Ticket(s.ctx, s.ws, event.TicketID(asking, 9)); found || err != nil {
		s.Errorf("a ticket that there is not: %v, %v", found, err)
	}
	s.wantTickets(view.TicketFilter{Live: true}, approval, takeover, event.TicketID(asking, 2))
	s.do(asking, handoff.Cancel{By: operator})
	s.do(moving, handoff.Approve{By: agentOf("carl"), Handoff: 1})
	s.do(given, handoff.Complete{By: agentOf("zoe"), Epoch: 1})
	s.wantTickets(view.TicketFilter{Live: true})
	s.wantTickets(view.TicketFilter{State: event.TicketStateClosed, Task: asking}, question, event.TicketID(asking, 2))
}

func questionStory(s *stage) {
	task := s.create(1, agentOf("ann"))
	ask := func(to string) handoff.Ask {
		return handoff.Ask{By: agentOf("ann"), Epoch: 1, To: to, Question: "which one?", Then: "billing"}
	}
	s.do(task, handoff.Start{By: agentOf("ann")}, ask("bob"))
	i := s.wantInbox("bob", "question "+event.TicketID(task, 1))[0]
	if k := s.task(task).Ticket; i.From != "ann" || i.Detail != "which one?" || i.Intent != "do 1" || i.Task != task || !i.Ends.Equal(k.Due) || i.Seen {
		s.Errorf("the question: %+v", i)
	}
	s.wantInbox("ann")
	s.wantInbox("")
	s.do(task, handoff.Answer{By: agentOf("bob"), Ticket: 1, Answer: "this one"})
	s.wantInbox("bob")

	s.do(task, ask("bob"))
	s.wantInbox("bob", "question "+event.TicketID(task, 2))
	s.now = s.task(task).Ticket.Due
	s.do(task, handoff.Tick{})
	s.wantInbox("bob") // it has gone on to a desk
	s.wantTickets(view.TicketFilter{Live: true, Desk: "billing"}, event.TicketID(task, 2))
	s.do(task, handoff.Answer{By: operator, Ticket: 2, Answer: "that one"}, handoff.Ask{By: agentOf("ann"), Epoch: 1, Question: "and now?"})
	s.wantInbox("bob")
	s.wantInbox("") // nobody was asked by name
}

// ticketOrderStory lists tickets in the orders in which they are due and were closed, page by page.
func ticketOrderStory(s *stage) {
	var ids []string // the later one was asked, the sooner it is due
	for n := range 4 {
		id := s.create(n+1, agentOf("ann"))
		s.do(id, handoff.Start{By: agentOf("ann")}, handoff.Ask{By: agentOf("ann"), Epoch: 1, Desk: "billing", Question: "which one?", Within: event.Duration(9-n) * event.Duration(time.Hour)})
		ids = append(ids, event.TicketID(id, 1))
	}
	due := view.TicketFilter{Live: true, Order: view.TicketsByDue}
	s.wantTickets(due, ids[3], ids[2], ids[1], ids[0])
	s.wantCount(due, 4)
	due.Limit = 3
	s.wantTickets(due, ids[3], ids[2], ids[1])
	if first, err := s.views.TicketsInTurn(s.ctx, s.ws, due, view.Turns{}); err != nil || len(first.Tickets) != 3 || first.Tickets[0].ID != ids[3] || first.Next.After.ID != ids[1] {
		s.Fatalf("the first page: %+v, %v", first, err)
	}
	due.After = after(ids[1])
	s.wantTickets(due, ids[0])
	s.wantCount(due, 4)
	for _, n := range []int{1, 3, 0} {
		s.now = s.now.Add(time.Minute)
		s.do(ids[n][:len(ids[n])-len(".k1")], handoff.Answer{By: operator, Ticket: 1, Answer: "this one"})
	}
	closed := view.TicketFilter{State: event.TicketStateClosed, Order: view.TicketsByClosed, Limit: 2}
	s.wantTickets(closed, ids[0], ids[3])
	closed.After = after(ids[3])
	s.wantTickets(closed, ids[1])
	s.wantCount(closed, 3)
	s.wantTickets(view.TicketFilter{Live: true, Order: view.TicketsByDue}, ids[2])
}

// after is the cursor after a ticket.
func after(id string) view.TicketCursor { return view.TicketCursor{After: view.TicketPlace{ID: id}} }

// wantCount compares how many tickets a filter has on all pages.
func (s *stage) wantCount(f view.TicketFilter, want int) {
	s.Helper()
	if n, err := s.views.TicketCount(s.ctx, s.ws, f); n != want || err != nil {
		s.Fatalf("tickets of %+v: %d (%v), want %d", f, n, err, want)
	}
}
