//go:build slow || outside

package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func (h *harness) remove(agent string) {
	h.Helper()
	ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) { return h.app.Agents.Remove(ctx(h), c, agent) })
}

func TestATaskThatComesBackToARemovedAgentGoesToTheDeadLettersAtOnce(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob", "ann")
		before, after := h.sentAway("lead", "bob"), h.sentAway("lead", "ann")
		h.reject("bob", h.wait("bob"), event.NotCapable)
		if item := h.wait("lead"); item.Type != view.ItemReturned || item.Ends.IsZero() {
			h.Errorf("%+v", item)
		}
		start := time.Now()
		h.remove("lead")
		h.parked(before.Task, "lead requested it and was removed", "bob turned it down")
		h.reject("ann", h.wait("ann"), event.NotCapable)
		h.parked(after.Task, "lead requested it and was removed", "ann turned it down")
		if d := time.Since(start); d > time.Hour {
			h.Errorf("only after %s", d)
		}
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: before.Task, Home: true, Note: "again"})
		})
		h.parked(before.Task, "lead requested it and was removed", "it was replayed")
	})
}

func TestARequesterIsToldThatAnOperatorTookItsHandoffBack(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob")
		r := h.sentAway("lead", "bob")
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: h.wait("bob").ID, Detail: "bob is on holiday"})
		})
		item := h.wait("lead")
		if item.Type != view.ItemReturned || item.Task != r.Task || item.Ends.IsZero() || !strings.Contains(item.Detail, "bob is on holiday") {
			h.Errorf("%+v", item)
		}
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"bob"}})
		h.empty("lead")
		ok(h, h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: h.wait("bob").ID})
		})
		h.empty("lead") // it did so itself
		if now := h.task(r.Task); now.TakeUpBy.IsZero() {
			h.Error("no clock")
		}
	})
}
