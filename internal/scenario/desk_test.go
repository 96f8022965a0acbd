package scenario

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/desk"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
)

// person registers somebody who serves a desk.
func (h *house) person(name, serves string) app.Caller {
	h.Helper()
	h.register(name, roster.AgentSpec{Kind: registry.KindHuman, Capabilities: []string{serves}})
	return h.agent(name)
}

func (h *house) claim(by app.Caller, ticket string) (docket.Receipt, error) {
	return call(by, func(c app.Caller) (docket.Receipt, error) { return h.app.Claim(ctx(h), c, desk.ClaimInput{ID: ticket}) })
}

func (h *house) askPeople(by app.Caller, r docket.Receipt, in desk.AskInput) docket.Receipt {
	h.Helper()
	in.Task, in.Epoch = r.Task, r.Epoch
	return ok(h, by, func(c app.Caller) (docket.Receipt, error) { return h.app.Ask(ctx(h), c, in) })
}

func TestOfManyPeopleWhoTakeATaskOverAtOnceOneHasIt(t *testing.T) {
	story(t, func(h *house) {
		h.join("coder")
		var people []app.Caller
		for i := range 8 {
			people = append(people, h.person(fmt.Sprintf("person-%d", i), "billing"))
		}
		r := h.create(h.agent("coder"), app.CreateInput{Intent: "pay it back", Start: true})
		sent := h.send(h.agent("coder"), r, app.SendInput{To: []string{"human:billing"}, Content: app.Content{Decisions: []app.Point{{Text: "refund it"}}}})
		if sent.State != fact.Waiting || sent.Stage != fact.AtDesk || sent.Ticket == "" {
			h.Fatalf("%+v", sent)
		}
		got, errs := make([]docket.Receipt, len(people)), make([]error, len(people))
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
		stale := func(by app.Caller, epoch uint64) error {
			_, err := call(by, func(c app.Caller) (docket.Receipt, error) {
				return h.app.Complete(ctx(h), c, app.CompleteInput{Task: r.Task, Epoch: epoch})
			})
			return err
		}
		if err := stale(h.agent("coder"), r.Epoch); refusal.CodeOf(err) != refusal.NotOwner {
			h.Errorf("the former owner: %v", err)
		}
		ok(h, people[first], func(c app.Caller) (docket.Receipt, error) {
			return h.app.Release(ctx(h), c, desk.ReleaseInput{ID: sent.Ticket, Epoch: now.Epoch})
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
		if k := h.task(r.Task).Ticket; k.Outcome != fact.TicketResolved {
			h.Errorf("the ticket: %+v", k)
		}
	})
}

func TestAnAnswerGoesAlongAndARepeatedCallIsOneCall(t *testing.T) {
	story(t, func(h *house) {
		h.join("coder", "tester", "stranger")
		zoe := h.person("zoe", "billing")
		r := h.create(h.agent("coder"), app.CreateInput{Intent: "pay it back", Start: true})
		coder := h.agent("coder").WithKey("ask-once")
		var asked docket.Receipt
		for range 2 {
			got, err := h.app.Ask(ctx(h), coder, desk.AskInput{Task: r.Task, Epoch: r.Epoch, Question: "refund it?", Desk: "billing"})
			for refusal.CodeOf(err) == refusal.Unknown {
				got, err = h.app.Ask(ctx(h), coder, desk.AskInput{Task: r.Task, Epoch: r.Epoch, Question: "refund it?", Desk: "billing"})
			}
			if err != nil || asked.Ticket != "" && got.Ticket != asked.Ticket {
				h.Fatalf("%v: %+v", err, got)
			}
			asked = got
		}
		for _, who := range []app.Caller{h.agent("stranger"), h.agent("tester"), h.person("yves", "legal")} {
			if _, err := h.app.Ticket(ctx(h), who, desk.TicketInput{ID: asked.Ticket}); refusal.CodeOf(err) != refusal.NotFound {
				h.Errorf("%s sees the ticket: %v", who.Name, err)
			}
			if list, err := h.app.Tickets(ctx(h), who, desk.TicketsInput{}); err != nil || len(list) != 0 {
				h.Errorf("%s sees %d tickets, %v", who.Name, len(list), err)
			}
		}
		ok(h, zoe, func(c app.Caller) (docket.Receipt, error) {
			return h.app.Answer(ctx(h), c, desk.AnswerInput{ID: asked.Ticket, Answer: "yes, all of it"})
		})
		h.send(h.agent("coder"), r, app.SendInput{To: []string{"tester"}})
		a := h.accept("tester", h.wait("tester"))
		if !strings.Contains(string(a.Content.Envelope), "yes, all of it") {
			h.Errorf("the answer does not go along: %s", a.Content.Envelope)
		}
		second := h.askPeople(h.agent("tester"), a.Receipt, desk.AskInput{Question: "and now?", Within: fact.Duration(time.Hour)})
		ok(h, h.operator(), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Cancel(ctx(h), c, app.CancelInput{ID: a.Task})
		})
		k, err := h.app.Ticket(ctx(h), h.operator(), desk.TicketInput{ID: second.Ticket})
		if err != nil || k.State != fact.TicketOver || k.Outcome != fact.TicketWithdrawn {
			h.Errorf("a ticket of a cancelled task: %v, %+v", err, k)
		}
	})
}
