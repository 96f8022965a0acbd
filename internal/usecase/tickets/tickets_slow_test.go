//go:build slow

package tickets_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

const taskID = "task_00000000000000000000000001"

// known are the agents that there are.
var known = map[string]agent.Spec{
	"ann": {}, "bob": {}, "bill": {Capabilities: []string{"billing"}},
	"zoe": {Kind: agent.KindHuman, Capabilities: []string{"billing"}}, "yves": {Kind: agent.KindHuman, Capabilities: []string{"legal"}},
}

type harness struct {
	*tickets.Tickets
	t     *testing.T
	log   ledger.Ledger
	views view.Store
	rows  *behind
}

// behind are views that have not followed the record, while they have rows of before.
type behind struct {
	view.TicketQueries
	rows []view.TicketRow
}

func (b *behind) TicketsInTurn(ctx context.Context, workspace string, f view.TicketFilter, turns view.Turns) (view.TicketList, error) {
	if len(b.rows) > 0 {
		return view.TicketList{Tickets: b.rows}, nil
	}
	return b.TicketQueries.TicketsInTurn(ctx, workspace, f, turns)
}

// open is a desk over one task, which ann works on.
func open(t *testing.T) *harness {
	t.Helper()
	log, views := sqltest.Open(t)
	reads, err := access.New(log, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := taskstore.New(log, reads, presence.New(time.Now), time.Now, 16, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	ann := agentOf("ann")
	_, err = tasks.Decide(t.Context(), ann, "create", taskID, nil, func(s task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(s, handoff.Sequence{handoff.Create{By: ann.Principal, Task: taskID, Intent: "pay it back"}, handoff.Start{By: ann.Principal}}, now)
	})
	if err != nil {
		t.Fatal(err)
	}
	turns, err := quota.NewTurns(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	store := views.Store()
	rows := &behind{TicketQueries: store.TicketQueries}
	store.TicketQueries = rows
	d := tickets.New(tasks, store, reads, around{}, around{}, around{}, turns, time.Now)
	return &harness{Tickets: d, t: t, log: log, views: store, rows: rows}
}

// around is what tickets need of others: the known agents, desks that are all served, and envelopes.
type around struct{}

func (around) Find(_ context.Context, _, name string, _ bool) (agent.State, error) {
	spec, is := known[name]
	if !is {
		return agent.State{}, nil
	}
	return agent.State{Name: name, Spec: spec}, nil
}

func (around) Staffed(context.Context, string, string) error { return nil }

func (around) ToPerson(context.Context, string, task.Task, string, event.Reason, string, time.Time) (event.Sealed, error) {
	return event.Sealed{}, nil
}

func who(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: role, Name: name}}
}

func agentOf(name string) caller.Caller { return who(identity.Agent, name) }

// ask has ann ask, and gives the ticket.
func (h *harness) ask(in tickets.AskInput) string {
	h.t.Helper()
	in.Task, in.Epoch = taskID, 1
	r, err := h.Ask(h.t.Context(), agentOf("ann"), in)
	if err == nil {
		err = h.views.Wait(h.t.Context(), r.Position)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return r.Ticket
}

func (h *harness) entries(kind, id string) int {
	h.t.Helper()
	list, err := h.log.Stream(h.t.Context(), ledger.StreamOf(identity.DefaultWorkspace, kind, id), 0, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	return len(list)
}

// see checks who finds a ticket, by its id and in the list, and that to others it is as one that there is not.
func (h *harness) see(ticket string, yes, no []caller.Caller) {
	h.t.Helper()
	lists := func(c caller.Caller) bool {
		list, err := h.List(h.t.Context(), c, tickets.TicketsInput{})
		if err != nil {
			h.t.Fatal(err)
		}
		return len(list.Tickets) > 0 && list.Tickets[len(list.Tickets)-1].ID == ticket
	}
	for _, c := range yes {
		if k, err := h.Show(h.t.Context(), c, tickets.TicketInput{ID: ticket}); err != nil || k.ID != ticket || !lists(c) {
			h.t.Errorf("%s does not see the ticket: %v", c, err)
		}
	}
	for _, c := range no {
		_, err := h.Show(h.t.Context(), c, tickets.TicketInput{ID: ticket})
		_, none := h.Show(h.t.Context(), c, tickets.TicketInput{ID: event.TicketID(taskID, 9)})
		_, answer := h.Answer(h.t.Context(), c, tickets.AnswerInput{ID: ticket, Answer: "yes"})
		_, claim := h.Claim(h.t.Context(), c, tickets.ClaimInput{ID: ticket})
		for _, err := range []error{err, none, answer, claim} {
			if refusal.CodeOf(err) != refusal.NotFound {
				h.t.Errorf("%s: %v", c, err)
			}
		}
		if lists(c) {
			h.t.Errorf("%s sees the ticket in the list", c)
		}
	}
}

func TestATicketIsFoundByThoseWhomItConcernsAndByNobodyElse(t *testing.T) {
	h := open(t)
	ann, bob, bill, zoe, yves := agentOf("ann"), agentOf("bob"), agentOf("bill"), agentOf("zoe"), agentOf("yves")
	operator, elsewhere := who(identity.Operator, "olga"), who(identity.Operator, "olga")
	elsewhere.Workspace = "other"
	atDesk := h.ask(tickets.AskInput{Question: "refund it?", Desk: "billing"})
	h.see(atDesk, []caller.Caller{ann, zoe, operator, who(identity.Auditor, "ada")}, []caller.Caller{bob, bill, yves, elsewhere})
	if _, err := h.Answer(t.Context(), zoe, tickets.AnswerInput{ID: atDesk, Answer: "yes"}); err != nil {
		t.Fatal(err)
	}
	byName := h.ask(tickets.AskInput{Question: "all of it?", To: "bob"})
	h.see(byName, []caller.Caller{ann, bob, operator}, []caller.Caller{bill, zoe, yves, elsewhere})
	if _, err := h.Answer(t.Context(), bob, tickets.AnswerInput{ID: byName, Answer: "yes"}); err != nil {
		t.Error(err)
	}
	if _, err := h.Ask(t.Context(), ann, tickets.AskInput{Task: taskID, Epoch: 1, Question: "x", To: "nobody"}); refusal.CodeOf(err) != refusal.NotFound {
		t.Errorf("somebody who is not there was asked: %v", err)
	}
}

func TestTheReadersOfATicketAreRecordedAndAListOnlyPreviews(t *testing.T) {
	h := open(t)
	long := strings.Repeat("why? ", 400)
	ticket := h.ask(tickets.AskInput{Question: long, Options: []string{"yes", "no"}, Desk: "billing"})
	zoe := agentOf("zoe")
	list, err := h.List(t.Context(), zoe, tickets.TicketsInput{})
	if err != nil || len(list.Tickets) != 1 || len(list.Tickets[0].Question) > 510 || len(list.Tickets[0].Options) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if n := h.entries(access.Kind, "agent:zoe"); n != 1 {
		t.Errorf("a list is %d entries", n)
	}
	before := h.entries(taskstore.Kind, taskID)
	k, err := h.Show(t.Context(), zoe, tickets.TicketInput{ID: ticket})
	if err != nil || k.Question != long || len(k.Options) != 2 {
		t.Errorf("%+v, %v", k, err)
	}
	if n := h.entries(access.Kind, "agent:zoe"); n != 2 {
		t.Errorf("with the read there are %d entries", n)
	}
	if n := h.entries(taskstore.Kind, taskID); n != before {
		t.Errorf("looking made %d entries of the task", n-before)
	}
}

// Views may not have followed the record yet: a ticket that they still have as open has the verbs of no other ticket of its task.
func TestATicketThatAnotherHasFollowedHasNoVerbs(t *testing.T) {
	h := open(t)
	zoe := agentOf("zoe")
	list := func() tickets.TicketRow {
		got, err := h.List(t.Context(), zoe, tickets.TicketsInput{TicketFilter: view.TicketFilter{Live: true}})
		if err != nil || len(got.Tickets) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Tickets[0]
	}
	first := h.ask(tickets.AskInput{Question: "refund it?", Desk: "billing"})
	row := list()
	if len(row.Verbs) == 0 || row.Epoch != 1 {
		t.Errorf("the open ticket has %v at epoch %d", row.Verbs, row.Epoch)
	}
	if _, err := h.Answer(t.Context(), zoe, tickets.AnswerInput{ID: first, Answer: "yes"}); err != nil {
		t.Fatal(err)
	}
	second := h.ask(tickets.AskInput{Question: "all of it?", Desk: "billing"})
	if row := list(); row.ID != second || len(row.Verbs) == 0 {
		t.Errorf("%s has %v", row.ID, row.Verbs)
	}
	h.rows.rows = []view.TicketRow{row.TicketRow}
	if row := list(); row.ID != first || len(row.Verbs) > 0 || row.Epoch != 0 {
		t.Errorf("%s, which is answered, has %v at epoch %d", row.ID, row.Verbs, row.Epoch)
	}
}

func TestACallThatWaitsForATicketHasItsAnswerAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ticket := h.ask(tickets.AskInput{Question: "Refund or replace?", Desk: "billing"})
		begun := time.Now()
		answered := make(chan tickets.TicketRow)
		for _, c := range []caller.Caller{agentOf("ann"), agentOf("zoe")} {
			go func() {
				k, err := h.Show(t.Context(), c, tickets.TicketInput{ID: ticket, Wait: tickets.MaxWait})
				if err != nil {
					t.Errorf("%s: %v", c, err)
				}
				answered <- k
			}()
		}
		synctest.Wait()
		if _, err := h.Answer(t.Context(), who(identity.Operator, "omar"), tickets.AnswerInput{ID: ticket, Answer: "refund"}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if k := <-answered; k.Answer != "refund" {
				t.Errorf("%+v", k.Ticket)
			}
		}
		if waited := time.Since(begun); waited != 0 { // by the clock of the test
			t.Errorf("they looked again only after %s", waited)
		}
	})
}
