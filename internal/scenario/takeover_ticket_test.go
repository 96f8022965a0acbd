package scenario

import (
	"fmt"
	"sync"
	"testing"

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
