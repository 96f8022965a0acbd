//go:build slow || outside

package scenario

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAHandoffThatNobodyTakesCostsItsSenderNoContext(t *testing.T) {
	fails := map[string]func(h *harness, r taskstore.Receipt){
		"rejected": func(h *harness, r taskstore.Receipt) { h.reject("bob", h.of(r.Task, "bob"), event.Refused) },
		"withdrawn": func(h *harness, r taskstore.Receipt) {
			ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: r.Handoff, Epoch: r.Epoch})
			})
		},
		"expired": func(h *harness, r taskstore.Receipt) {
			h.until(r.Task, "back home", func(t taskstore.Task) bool {
				return t.State == event.Executing && t.Handoff.Stage == event.Undeliverable
			})
		},
		"replayed home": func(h *harness, r taskstore.Receipt) {
			h.inState(r.Task, event.Parked)
			h.replay(tasks.ReplayInput{Task: r.Task, Home: true})
		},
	}
	for how, fail := range fails {
		t.Run(how, func(t *testing.T) {
			story(t, func(h *harness) {
				h.join("ann", "bob", "cyd")
				for _, kind := range []event.Kind{event.Warm, event.Cold, event.Supervised} {
					r, words := h.untaken(kind, handoffs.SendInput{ReturnHome: how == "expired"})
					fail(h, r)
					if missing := without(h.prompt(h.agent("ann"), r.Task), words); missing != nil {
						h.Errorf("%s: the sender's own content lacks %v", kind, missing)
					}
					if missing := without(h.preview(h.agent("ann"), r.Task), words); missing != nil {
						h.Errorf("%s: the next envelope lacks %v", kind, missing)
					}
					next := h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"cyd"}})
					if missing := without(h.prompt(h.agent("cyd"), next.Handoff), words); missing != nil {
						h.Errorf("%s: the next receiver lacks %v", kind, missing)
					}
					h.accept("cyd", h.of(r.Task, "cyd"))
				}
			})
		})
	}
}
