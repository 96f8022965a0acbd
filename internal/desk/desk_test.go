package desk_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/access"
	"github.com/trapezehq/trapeze/internal/caller"
	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/desk"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/view"
	"github.com/trapezehq/trapeze/internal/view/sqltest"
)

const task = "task_00000000000000000000000001"

// known are the agents that there are.
var known = map[string]registry.Spec{
	"ann": {}, "bob": {}, "bill": {Capabilities: []string{"billing"}},
	"zoe": {Kind: registry.KindHuman, Capabilities: []string{"billing"}}, "yves": {Kind: registry.KindHuman, Capabilities: []string{"legal"}},
}

type house struct {
	*desk.Desk
	t     *testing.T
	log   ledger.Ledger
	views view.Store
}

// open is a desk over one task, which ann works on.
func open(t *testing.T) *house {
	t.Helper()
	log, views := sqltest.Open(t)
	reads, err := access.New(log, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := docket.New(log, reads, func(caller.Caller) {}, time.Now, 16)
	if err != nil {
		t.Fatal(err)
	}
	ann := agent("ann")
	_, err = tasks.Decide(t.Context(), ann, "create", task, nil, func(s custody.Task, now time.Time) ([]fact.Event, error) {
		return handoff.Decide(s, handoff.Sequence{handoff.Create{By: ann.By(), Task: task, Intent: "pay it back"}, handoff.Start{By: ann.By()}}, now)
	})
	if err != nil {
		t.Fatal(err)
	}
	d := desk.New(tasks, views.Store(), reads, desk.Sources{
		Known: func(_ context.Context, _, name string, _ bool) (registry.State, error) {
			spec, is := known[name]
			if !is {
				return registry.State{}, nil
			}
			return registry.State{Name: name, Spec: spec}, nil
		},
		Staffed: func(context.Context, string, string) error { return nil },
	})
	return &house{Desk: d, t: t, log: log, views: views.Store()}
}

func who(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: role, Name: name}}
}

func agent(name string) caller.Caller { return who(identity.Agent, name) }

// ask has ann ask, and gives the ticket.
func (h *house) ask(in desk.AskInput) string {
	h.t.Helper()
	in.Task, in.Epoch = task, 1
	r, err := h.Ask(h.t.Context(), agent("ann"), in)
	if err == nil {
		err = h.views.Wait(h.t.Context(), r.Position)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return r.Ticket
}

func (h *house) entries(kind, id string) int {
	h.t.Helper()
	list, err := h.log.Stream(h.t.Context(), ledger.StreamOf(identity.DefaultWorkspace, kind, id), 0, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	return len(list)
}

// see checks who finds a ticket, by its id and in the list, and that to others it is as one that there is not.
func (h *house) see(ticket string, yes, no []caller.Caller) {
	h.t.Helper()
	lists := func(c caller.Caller) bool {
		list, err := h.Tickets(h.t.Context(), c, desk.TicketsInput{})
		if err != nil {
			h.t.Fatal(err)
		}
		return len(list) > 0 && list[len(list)-1].ID == ticket
	}
	for _, c := range yes {
		if k, err := h.Ticket(h.t.Context(), c, desk.TicketInput{ID: ticket}); err != nil || k.ID != ticket || !lists(c) {
			h.t.Errorf("%s does not see the ticket: %v", c, err)
		}
	}
	for _, c := range no {
		_, err := h.Ticket(h.t.Context(), c, desk.TicketInput{ID: ticket})
		_, none := h.Ticket(h.t.Context(), c, desk.TicketInput{ID: fact.TicketID(task, 9)})
		_, answer := h.Answer(h.t.Context(), c, desk.AnswerInput{ID: ticket, Answer: "yes"})
		_, claim := h.Claim(h.t.Context(), c, desk.ClaimInput{ID: ticket})
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
	ann, bob, bill, zoe, yves := agent("ann"), agent("bob"), agent("bill"), agent("zoe"), agent("yves")
	operator, elsewhere := who(identity.Operator, "olga"), who(identity.Operator, "olga")
	elsewhere.Workspace = "other"
	atDesk := h.ask(desk.AskInput{Question: "refund it?", Desk: "billing"})
	h.see(atDesk, []caller.Caller{ann, zoe, operator, who(identity.Auditor, "ada")}, []caller.Caller{bob, bill, yves, elsewhere})
	if _, err := h.Answer(t.Context(), zoe, desk.AnswerInput{ID: atDesk, Answer: "yes"}); err != nil {
		t.Fatal(err)
	}
	byName := h.ask(desk.AskInput{Question: "all of it?", To: "bob"})
	h.see(byName, []caller.Caller{ann, bob, operator}, []caller.Caller{bill, zoe, yves, elsewhere})
	if _, err := h.Answer(t.Context(), bob, desk.AnswerInput{ID: byName, Answer: "yes"}); err != nil {
		t.Error(err)
	}
	if _, err := h.Ask(t.Context(), ann, desk.AskInput{Task: task, Epoch: 1, Question: "x", To: "nobody"}); refusal.CodeOf(err) != refusal.NotFound {
		t.Errorf("somebody who is not there was asked: %v", err)
	}
}

func TestWhoReadsATicketIsOnRecordAndAListOnlyPreviews(t *testing.T) {
	h := open(t)
	long := strings.Repeat("why? ", 400)
	ticket := h.ask(desk.AskInput{Question: long, Options: []string{"yes", "no"}, Desk: "billing"})
	zoe := agent("zoe")
	list, err := h.Tickets(t.Context(), zoe, desk.TicketsInput{})
	if err != nil || len(list) != 1 || len(list[0].Question) > 510 || len(list[0].Options) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if n := h.entries(access.Kind, "agent:zoe"); n != 0 {
		t.Errorf("a preview is %d entries", n)
	}
	before := h.entries(docket.Kind, task)
	k, err := h.Ticket(t.Context(), zoe, desk.TicketInput{ID: ticket})
	if err != nil || k.Question != long || len(k.Options) != 2 {
		t.Errorf("%+v, %v", k, err)
	}
	if n := h.entries(access.Kind, "agent:zoe"); n != 1 {
		t.Errorf("the read is %d entries", n)
	}
	if n := h.entries(docket.Kind, task); n != before {
		t.Errorf("looking made %d entries of the task", n-before)
	}
}

func TestWhoeverWaitsForATicketHasItsAnswerAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ticket := h.ask(desk.AskInput{Question: "Refund or replace?", Desk: "billing"})
		begun := time.Now()
		answered := make(chan view.Ticket)
		for _, c := range []caller.Caller{agent("ann"), agent("zoe")} {
			go func() {
				k, err := h.Ticket(t.Context(), c, desk.TicketInput{ID: ticket, Wait: desk.MaxWait})
				if err != nil {
					t.Errorf("%s: %v", c, err)
				}
				answered <- k
			}()
		}
		synctest.Wait()
		if _, err := h.Answer(t.Context(), who(identity.Operator, "omar"), desk.AnswerInput{ID: ticket, Answer: "refund"}); err != nil {
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
