package scenario

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// halfOpen registers an agent and opens its shared circuit by handoffs of two senders, so that it is half-open for an hour.
func (h *harness) halfOpen(name string) {
	h.Helper()
	h.register(name, agents.AgentSpec{Breaker: agents.Breaker{Failures: 1, OpenFor: event.Duration(time.Hour)}})
	h.fail("opener-1", name)
	h.fail("opener-2", name)
	h.circuit(name, agent.Open)
	time.Sleep(time.Hour)
	h.circuit(name, agent.HalfOpen)
}

// offers counts the offers that an agent has been made, by task.
func (h *harness) offers(name string) map[string]int {
	h.Helper()
	last, err := h.app.Positions.Last(ctx(h))
	if err != nil {
		h.Fatal(err)
	}
	codec := ledger.NewCodec(event.Events...)
	made := map[string]int{}
	err = h.ledger.Follow(ctx(h), 0, func(entries []ledger.Entry) error {
		for _, e := range entries {
			_, kind, id := e.Stream.Parts()
			for _, ev := range e.Events {
				if kind != "task" {
					continue
				}
				d, err := codec.Decode(ev)
				if err != nil {
					return err
				}
				if offer, is := d.(event.OfferMade); is && slices.Contains(offer.To, name) {
					made[id]++
				}
			}
			if e.Position >= last {
				return errEnough
			}
		}
		return nil
	})
	if err != errEnough { //nolint:errorlint // Follow returns what its function does
		h.Fatal(err)
	}
	return made
}

var errEnough = fmt.Errorf("enough")

// oneMore checks that an agent was made exactly one offer more than before, and gives the task of it.
func (h *harness) oneMore(name string, before map[string]int) (task string) {
	h.Helper()
	more := 0
	for id, n := range h.offers(name) {
		if n -= before[id]; n > 0 {
			task = id
			more += n
		}
	}
	if more != 1 {
		h.Fatalf("%d offers to %s while its circuit was half-open", more, name)
	}
	return task
}

// together runs functions concurrently.
func together(n int, do func(i int)) {
	done := make(chan struct{})
	for i := range n {
		go func() {
			do(i)
			done <- struct{}{}
		}()
	}
	for range n {
		<-done
	}
}

// lostOffers does not write the first offer after each claim of a probe, and does not know whether it did.
type lostOffers struct {
	ledger.Ledger
	mu   sync.Mutex
	lose bool
}

func (l *lostOffers) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if l.loses(e) {
		return 0, ledger.ErrUnknown
	}
	return l.Ledger.Append(ctx, e, expect)
}

func (l *lostOffers) loses(e ledger.Entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ev := range e.Events {
		switch ev.Name {
		case agent.ProbeClaimed{}.EventName():
			l.lose = true
		case event.OfferMade{}.EventName():
			lost := l.lose
			l.lose = false
			return lost
		}
	}
	return false
}

// halfOpenStory runs a story on every ledger, and on one that loses the offer for which a probe was claimed.
func halfOpenStory(t *testing.T, tell func(h *harness)) {
	t.Helper()
	story(t, tell)
	t.Run(lostOffer, func(t *testing.T) { bubble(t, lostOffer, tell) })
}

func TestOfManyHandoffsToAHalfOpenAgentOneIsTheProbe(t *testing.T) {
	halfOpenStory(t, func(h *harness) {
		h.join("lead", "backup")
		h.halfOpen("flaky")
		before := h.offers("flaky")
		kinds := []handoffs.SendInput{
			{To: []string{"flaky"}},
			{To: []string{"flaky", "backup"}},
			{To: []string{"flaky", "backup"}, Kind: event.Broadcast},
			{To: []string{"flaky", "backup"}, Kind: event.Broadcast, FanOut: true},
			{To: []string{"flaky"}, Kind: event.Delegation},
			{To: []string{"flaky", "backup"}, Kind: event.Delegation},
		}
		made := make([]error, 2*len(kinds))
		together(len(made), func(i int) {
			_, made[i] = call(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "try", Send: &kinds[i%len(kinds)]})
			})
		})
		refused := 0
		for i, err := range made {
			if code := refusal.CodeOf(err); err != nil && code != refusal.CircuitOpen && code != refusal.Unavailable {
				h.Errorf("handoff %d: %v", i, err)
			}
			if err != nil {
				refused++
			}
			if err != nil && len(kinds[i%len(kinds)].To) > 1 {
				h.Errorf("handoff %d with an alternative: %v", i, err)
			}
		}
		if refused < 3 {
			h.Errorf("%d of the 4 handoffs to flaky alone were refused", refused)
		}
		time.Sleep(time.Minute) // children get their offers
		task := h.oneMore("flaky", before)
		h.accept("flaky", h.waitFor("flaky", func(i view.Item) bool { return i.Task == task }))
		h.lets("lead", "flaky")
	})
}
