package scenario

import (
	"encoding/json"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

func TestOwnersAfterAColdHandoffReadNothingFromBefore(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan", "kid")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.acceptPrompt("bob").Receipt
		part := func(agent string, r taskstore.Receipt, word string) {
			h.send(h.agent(agent), r, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "measure"}})
			h.complete("kid", h.acceptPrompt("kid").Receipt, word+"RESULT")
			h.inState(r.Task, event.Executing)
		}
		question := func(agent string, r taskstore.Receipt, word string) string {
			asked := h.askPeople(h.agent(agent), r, tickets.AskInput{Task: r.Task, Epoch: r.Epoch, Question: word + "QUESTION"})
			ok(h, h.as(identity.Operator, "eva"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tickets.Answer(ctx(h), c, tickets.AnswerInput{ID: asked.Ticket, Answer: word + "ANSWER"})
			})
			h.inState(r.Task, event.Executing)
			return asked.Ticket
		}
		note := func(agent string, r taskstore.Receipt, word string) {
			ok(h, h.agent(agent), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Progress(ctx(h), c, tasks.ProgressInput{Task: r.Task, Epoch: r.Epoch, Note: word + "NOTE"})
			})
		}
		shown := func(by caller.Caller) string {
			got := ok(h, by, func(c caller.Caller) (taskstore.Task, error) { return h.app.Tasks.Show(ctx(h), c, r.Task) })
			b, err := json.Marshal(got)
			if err != nil {
				h.Fatal(err)
			}
			return string(b)
		}
		part("bob", b, "old")
		ticket := question("bob", b, "old")
		note("bob", b, "old")
		old, now := []string{"oldRESULT", "oldQUESTION", "oldANSWER", "oldNOTE"}, []string{"newRESULT", "newQUESTION", "newANSWER", "newNOTE"}
		if missing := without(shown(h.agent("bob")), old); missing != nil {
			h.Errorf("bob does not read %v of its own time", missing)
		}
		h.send(h.agent("bob"), b, handoffs.SendInput{To: []string{"cyd"}, Kind: event.Cold})
		c := h.acceptPrompt("cyd").Receipt
		if got := shown(h.agent("cyd")); len(without(got, old)) != len(old) {
			h.Errorf("after a cold handoff cyd reads\n%s", got)
		}
		ticketOf := func(agent, id string) error {
			_, err := call(h.agent(agent), func(c caller.Caller) (tickets.TicketRow, error) {
				return h.app.Tickets.Show(ctx(h), c, tickets.TicketInput{ID: id})
			})
			return err
		}
		if err := ticketOf("cyd", ticket); refusal.CodeOf(err) != refusal.NotFound {
			h.Errorf("cyd reads the ticket from before: %v", err)
		}
		for _, by := range []caller.Caller{h.agent("ann"), h.operator()} {
			if missing := without(shown(by), old); missing != nil {
				h.Errorf("%s does not read %v", by, missing)
			}
		}
		part("cyd", c, "new")
		newer := question("cyd", c, "new")
		note("cyd", c, "new")
		if got := shown(h.agent("cyd")); without(got, now) != nil || len(without(got, old)) != len(old) {
			h.Errorf("of its own time cyd reads\n%s", got)
		}
		h.send(h.agent("cyd"), c, handoffs.SendInput{To: []string{"dan"}})
		h.acceptPrompt("dan")
		if got := shown(h.agent("dan")); without(got, now) != nil || len(without(got, old)) != len(old) {
			h.Errorf("by a warm handoff from cyd dan reads\n%s", got)
		}
		if err := ticketOf("dan", newer); err != nil {
			h.Errorf("dan does not read the ticket of cyd's time: %v", err)
		}
	})
}
