//go:build slow || outside

package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

func TestAnAnswerGoesAlongAndARepeatedCallIsOneCall(t *testing.T) {
	story(t, func(h *harness) {
		h.join("coder", "tester", "stranger")
		zoe := h.person("zoe", "billing")
		r := h.create(h.agent("coder"), tasks.CreateInput{Intent: "pay it back", Start: true})
		coder := h.agent("coder").WithKey("ask-once")
		var asked taskstore.Receipt
		for range 2 {
			got, err := h.app.Tickets.Ask(ctx(h), coder, tickets.AskInput{Task: r.Task, Epoch: r.Epoch, Question: "refund it?", Desk: "billing"})
			for refusal.CodeOf(err) == refusal.Unknown {
				got, err = h.app.Tickets.Ask(ctx(h), coder, tickets.AskInput{Task: r.Task, Epoch: r.Epoch, Question: "refund it?", Desk: "billing"})
			}
			if err != nil || asked.Ticket != "" && got.Ticket != asked.Ticket {
				h.Fatalf("%v: %+v", err, got)
			}
			asked = got
		}
		for _, who := range []caller.Caller{h.agent("stranger"), h.agent("tester"), h.person("yves", "legal")} {
			if _, err := known(h, who, h.app.Tickets.Show, tickets.TicketInput{ID: asked.Ticket}); refusal.CodeOf(err) != refusal.NotFound {
				h.Errorf("%s sees the ticket: %v", who.Name, err)
			}
			if list, err := known(h, who, h.app.Tickets.List, tickets.TicketsInput{}); err != nil || len(list.Tickets) != 0 {
				h.Errorf("%s sees %d tickets, %v", who.Name, len(list.Tickets), err)
			}
		}
		ok(h, zoe, func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tickets.Answer(ctx(h), c, tickets.AnswerInput{ID: asked.Ticket, Answer: "yes, all of it"})
		})
		h.send(h.agent("coder"), r, handoffs.SendInput{To: []string{"tester"}})
		a := h.accept("tester", h.wait("tester"))
		if !strings.Contains(string(a.Content.Envelope), "yes, all of it") {
			h.Errorf("the answer does not go along: %s", a.Content.Envelope)
		}
		second := h.askPeople(h.agent("tester"), a.Receipt, tickets.AskInput{Question: "and now?", Within: event.Duration(time.Hour)})
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: a.Task})
		})
		k, err := known(h, h.operator(), h.app.Tickets.Show, tickets.TicketInput{ID: second.Ticket})
		if err != nil || k.State != event.TicketStateClosed || k.Outcome != event.TicketWithdrawn {
			h.Errorf("a ticket of a cancelled task: %v, %+v", err, k)
		}
	})
}

func TestAConstraintThatIsSetWhileAnApprovedTaskWaitsAtADeskReachesItsReceiver(t *testing.T) {
	story(t, func(h *harness) {
		h.join("coder")
		zoe := h.person("zoe", "billing")
		r := h.create(h.agent("coder"), tasks.CreateInput{Intent: "refund it", Start: true})
		sent := h.send(h.agent("coder"), r, handoffs.SendInput{To: []string{"human:billing"}, Kind: event.Supervised})
		approved := ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: sent.Handoff})
		})
		h.constrain(h.operator(), r.Task, event.Constraint{ID: "most", Kind: event.ConstraintBudget, Text: "never more than 100"})
		if _, err := h.claim(zoe, approved.Ticket); err != nil {
			h.Fatal(err)
		}
		sheet := ok(h, zoe, func(c caller.Caller) (envelopes.Sheet, error) {
			return h.app.Envelopes.Fetch(ctx(h), c, envelopes.ContentInput{ID: r.Task})
		})
		if !strings.Contains(string(sheet.Envelope), "never more than 100") {
			h.Errorf("zoe is given: %s", sheet.Envelope)
		}
	})
}

func TestACallerDoesNotApproveOrAnswerItsOwnRequestUnderAnotherName(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ben")
		ann := h.person("ann", "billing") // and h.operator is ann, too
		r := h.create(ann, tasks.CreateInput{Intent: "pay me", Start: true})
		sent := h.send(ann, r, handoffs.SendInput{To: []string{"ben"}, Kind: event.Supervised})
		_, err := call(h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: sent.Handoff})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("operator ann approves what the agent ann asked for: %v", err)
		}
	})
}

func TestATaskThatNobodyTookFromADeskIsAskedForThereAgainByAReplay(t *testing.T) {
	story(t, func(h *harness) {
		h.person("zoe", "legal")
		r := h.create(h.operator(), tasks.CreateInput{
			Intent: "may we?", Timeouts: event.Timeouts{Answer: event.Duration(20 * time.Minute)}, Send: &handoffs.SendInput{To: []string{"human:legal"}},
		})
		h.inState(r.Task, event.Parked)
		again := ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: r.Task, Note: "zoe is back"})
		})
		got := h.task(r.Task)
		if again.State != event.Waiting || got.OpenTicket() == nil || got.Ticket.Desk != "legal" || got.Ticket.N != 2 {
			h.Errorf("%s, %+v", again.State, got.Ticket)
		}
	})
}
