package scenario

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// lateAnswers returns from the reset of a circuit long after it is written, when those that follow the record have reacted to it.
type lateAnswers struct{ ledger.Ledger }

func (l lateAnswers) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	at, err := l.Ledger.Append(ctx, e, expect)
	if contains(e, agent.CircuitReset{}.EventName()) {
		time.Sleep(time.Minute)
	}
	return at, err
}

// lateWaits writes that a handoff waits two minutes after it was decided.
type lateWaits struct{ ledger.Ledger }

func (l lateWaits) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if contains(e, event.RetryScheduled{}.EventName()) {
		time.Sleep(2 * time.Minute)
	}
	return l.Ledger.Append(ctx, e, expect)
}

func contains(e ledger.Entry, name string) bool {
	return slices.ContainsFunc(e.Events, func(ev ledger.Event) bool { return ev.Name == name })
}

func (h *harness) resetCircuit(name string) {
	h.Helper()
	ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) { return h.app.Agents.ResetCircuit(ctx(h), c, name) })
}

// ownsAndIsLost makes an agent the owner of tasks, one each minute, and shows no life of it. Its circuit opens when the first is lost.
func (h *harness) ownsAndIsLost(name string, n int) {
	h.Helper()
	for range n {
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "try", Send: &handoffs.SendInput{To: []string{name}}})
		h.accept(name, h.waitFor(name, func(i view.Item) bool { return i.Task == r.Task }))
		time.Sleep(time.Minute)
	}
}

// taker returns a function that accepts so many of the tasks that an agent is offered, each once.
func (h *harness) taker(name string) (take func(n int), left func(of int) int) {
	back := map[string]bool{}
	take = func(n int) {
		h.Helper()
		for range n {
			item := h.waitFor(name, func(i view.Item) bool { return !back[i.Task] })
			back[item.Task] = true
			h.accept(name, item)
		}
	}
	return take, func(of int) int { return of - len(back) }
}

// soon checks that something takes at most five minutes of the story. A probe has twenty.
func (h *harness) soon(do func()) {
	h.Helper()
	before := time.Now()
	do()
	if waited := time.Since(before); waited > 5*time.Minute {
		h.Errorf("they waited for %s", waited)
	}
}

var breaker = agents.AgentSpec{Breaker: agents.Breaker{Failures: 1, OpenFor: event.Duration(20 * time.Minute)}}

func TestAHandoffThatBeginsToWaitWhileTheCircuitClosesIsMade(t *testing.T) {
	bubble(t, lateWait, func(h *harness) {
		h.join("lead")
		h.register("holder", breaker)
		h.ownsAndIsLost("holder", 3)
		time.Sleep(30 * time.Minute)
		h.pair("lead", "holder", agent.Open)
		take, _ := h.taker("holder")
		take(1)                                     // what was offered before the circuit opened
		time.Sleep(17*time.Minute + 30*time.Second) // one is the probe; it is decided that the other waits for that, and not written
		h.pair("lead", "holder", agent.HalfOpen)
		h.resetCircuit("holder")
		h.soon(func() { take(2) })
	})
}

func TestHandoffsToAnAgentThatIsRegisteredAgainAreMadeWhenItsCircuitCloses(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "holder")
		ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) { return h.app.Agents.Remove(ctx(h), c, "holder") })
		h.register("holder", breaker)
		const holder = "holder~2"
		h.ownsAndIsLost(holder, 2)
		time.Sleep(31 * time.Minute)
		h.pair("lead", holder, agent.Open)
		h.resetCircuit("holder")
		take, _ := h.taker(holder)
		h.soon(func() { take(2) })
	})
}
