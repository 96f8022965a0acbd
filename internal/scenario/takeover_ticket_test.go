package scenario

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// person registers somebody who serves a desk.
func (h *harness) person(name, serves string) caller.Caller {
	h.Helper()
	h.register(name, agents.AgentSpec{Kind: agent.KindHuman, Capabilities: []string{serves}})
	return h.agent(name)
}

func (h *harness) claim(by caller.Caller, ticket string) (taskstore.Receipt, error) {
	return call(by, func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tickets.Claim(ctx(h), c, tickets.ClaimInput{ID: ticket})
	})
}

func (h *harness) askPeople(by caller.Caller, r taskstore.Receipt, in tickets.AskInput) taskstore.Receipt {
	h.Helper()
	in.Task, in.Epoch = r.Task, r.Epoch
	return ok(h, by, func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tickets.Ask(ctx(h), c, in) })
}

func TestOfManyPeopleWhoTakeATaskOverAtOnceOneHasIt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("coder")
		var people []caller.Caller
		for i := range 8 {
			people = append(people, h.person(fmt.Sprintf("member-%d", i), "billing"))
		}
		r := h.create(h.agent("coder"), tasks.CreateInput{Intent: "pay it back", Start: true})
		sent := h.send(h.agent("coder"), r, handoffs.SendInput{To: []string{"human:billing"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "refund it"}}}})
		if sent.State != event.Waiting || sent.Stage != event.AtDesk || sent.Ticket == "" {
			h.Fatalf("%+v", sent)
		}
		got, errs := make([]taskstore.Receipt, len(people)), make([]error, len(people))
		var wg sync.WaitGroup
		for i, p := range people {
			wg.Go(func() { got[i], errs[i] = h.claim(p, sent.Ticket) })
		}
		wg.Wait()
		first := -1
		for i, err := range errs {
			switch {
			case err == nil && first < 0:
				first = i
			case err == nil:
				h.Errorf("%s and %s both took it", people[first].Name, people[i].Name)
			case refusal.CodeOf(err) != refusal.Conflict && refusal.CodeOf(err) != refusal.NotFound:
				h.Error(err)
			}
		}
		if first < 0 {
			h.Fatal("nobody took it")
		}
		now := h.task(r.Task)
		if now.Owner != people[first].Name || now.Epoch != r.Epoch+1 || got[first].Epoch != now.Epoch {
			h.Errorf("%s took it; %s owns it at epoch %d", people[first].Name, now.Owner, now.Epoch)
		}
		stale := func(by caller.Caller, epoch uint64) error {
			_, err := call(by, func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Complete(ctx(h), c, tasks.CompleteInput{Task: r.Task, Epoch: epoch})
			})
			return err
		}
		if err := stale(h.agent("coder"), r.Epoch); refusal.CodeOf(err) != refusal.NotOwner {
			h.Errorf("the former owner: %v", err)
		}
		ok(h, people[first], func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tickets.Release(ctx(h), c, tickets.ReleaseInput{ID: sent.Ticket, Epoch: now.Epoch})
		})
		again, err := h.claim(people[first], sent.Ticket)
		if err != nil {
			h.Fatal(err)
		}
		if err := stale(people[first], now.Epoch); refusal.CodeOf(err) != refusal.StaleEpoch {
			h.Errorf("the same person, from before: %v", err)
		}
		if err := stale(people[first], again.Epoch); err != nil {
			h.Error(err)
		}
		if k := h.task(r.Task).Ticket; k.Outcome != event.TicketResolved {
			h.Errorf("the ticket: %+v", k)
		}
	})
}

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
