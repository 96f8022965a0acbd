package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func (h *harness) stuckAgent(by caller.Caller, agent string) (taskstore.Relief, error) {
	h.Helper()
	return call(by, func(c caller.Caller) (taskstore.Relief, error) {
		return h.app.Tasks.StuckAgent(ctx(h), c, tasks.StuckAgentInput{Agent: agent})
	})
}

func TestWhatAStuckAgentHoldsHasEachItsOwnOutcome(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "coder", "helper")
		var tasksNames []string
		for range 2 {
			tasksNames = append(tasksNames, h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix", Send: &handoffs.SendInput{To: []string{"coder"}}}).Task)
			h.accept("coder", h.wait("coder"))
			time.Sleep(time.Second)
		}
		h.ready("coder", agent.Offline)
		r, err := h.stuckAgent(h.agent("ann"), "coder") // which nobody stands in for
		if err != nil || len(r.Moved) != 0 || len(r.Kept) != 2 {
			h.Fatalf("%+v, %v", r, err)
		}
		for i, k := range r.Kept {
			if k.Task != tasksNames[i] || k.Code != refusal.Unavailable || !strings.Contains(k.Why, "coder: offline") || k.Hint == "" {
				h.Errorf("%+v", k)
			}
		}
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"helper"}})
		if r, err = h.stuckAgent(h.agent("ann"), "coder"); err != nil || len(r.Moved) != 2 {
			h.Errorf("%+v, %v", r, err)
		}
	})
}

func TestNothingToMoveAndNotAllowedToAreToldApart(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "helper", "former")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"helper"}})
		refused := func(by caller.Caller, code refusal.Code, want string) {
			h.Helper()
			r, err := h.stuckAgent(by, "coder")
			no, _ := refusal.As(err)
			if no == nil || no.Code != code || !strings.Contains(no.Message, want) || !strings.Contains(no.Message+no.Hint, "operators may report it") && code != refusal.Invalid {
				h.Errorf("%s: %+v, %v", by, r, err)
			}
		}
		refused(h.agent("ann"), refusal.NotFound, "nothing that ann has a part in")
		if r, err := h.stuckAgent(h.operator(), "coder"); err != nil || len(r.Moved)+len(r.Kept) != 0 {
			h.Errorf("%+v, %v", r, err)
		}
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix", Send: &handoffs.SendInput{To: []string{"former"}}})
		got := h.accept("former", h.wait("former")).Receipt
		h.send(h.agent("former"), got, handoffs.SendInput{To: []string{"coder"}})
		h.accept("coder", h.wait("coder"))
		refused(h.agent("bob"), refusal.NotFound, "nothing that bob has a part in") // the same as if there were none
		refused(h.agent("former"), refusal.NotPermitted, "may report none of the 1 tasks")
		refused(h.agent("coder"), refusal.Invalid, "works on them itself")
		if moved, err := h.stuckAgent(h.agent("ann"), "coder"); err != nil || len(moved.Moved) != 1 || moved.Moved[0].Task != r.Task {
			h.Errorf("%+v, %v", moved, err)
		}
	})
}

func TestAWordThatDoesNotComeTrueCostsNoAttempt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "last")
		h.register("helper", agents.AgentSpec{Fallbacks: []string{"last"}})
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"helper"}})
		h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix", Limits: event.Limits{Attempts: 1}, Send: &handoffs.SendInput{To: []string{"coder"}}})
		got := h.accept("coder", h.wait("coder"))
		for range event.MaxStuckReports {
			h.stuck(h.agent("ann"), got.Task)
			h.progress("coder", got.Receipt, "still at it")
		}
		_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Stuck(ctx(h), c, tasks.StuckInput{Task: got.Task})
		})
		if refusal.CodeOf(err) != refusal.Limit {
			h.Errorf("%v", err)
		}
		if now := h.task(got.Task); now.State != event.Executing || now.Owner != "coder" || now.Used.Attempts != 0 {
			h.Errorf("%+v", now.Used)
		}
		h.stuck(h.operator(), got.Task)
		h.accept("helper", h.wait("helper"))
		if now := h.task(got.Task); now.Owner != "helper" || now.Used.Attempts != 1 || len(now.StuckReports) != 0 {
			h.Errorf("%+v", now.Used)
		}
		h.stuck(h.agent("ann"), got.Task) // an owner may be replaced once
		if now := h.task(got.Task); now.State != event.Parked {
			h.Errorf("%+v", now)
		}
	})
}
