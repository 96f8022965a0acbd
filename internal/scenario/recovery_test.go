package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// sendLong sends coder a task that does not fit its fallback tiny.
func (h *harness) sendLong() taskstore.Receipt {
	h.Helper()
	h.join("triage")
	h.register("tiny", agents.AgentSpec{ContextWindow: 500})
	h.register("coder", agents.AgentSpec{Fallbacks: []string{"tiny"}})
	r := h.create(h.agent("triage"), tasks.CreateInput{Intent: strings.Repeat("fix the long list of faults, ", 130), Start: true})
	h.send(h.agent("triage"), r, handoffs.SendInput{To: []string{"coder"}, Timeouts: event.Timeouts{Lease: event.Duration(time.Hour)}})
	return r
}

func TestNoTakeoverMakesAnOwnerThatCannotReadItsTask(t *testing.T) {
	story(t, func(h *harness) {
		r := h.sendLong()
		got := h.accept("coder", h.wait("coder")).Receipt
		takeover := func() (taskstore.Receipt, error) {
			return call(h.agent("tiny"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Takeover(ctx(h), c, tasks.TakeoverInput{Task: r.Task})
			})
		}
		ask, err := takeover()
		if err != nil || ask.Takeover == "" {
			h.Fatalf("asked: %+v, %v", ask, err)
		}
		_, err = call(h.agent("coder"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: ask.Takeover, Epoch: got.Epoch})
		})
		h.cannotRead(err)
		if now := h.task(r.Task); now.Owner != "coder" || now.Epoch != got.Epoch {
			h.Errorf("something moved: %+v", now)
		}
		h.until(r.Task, "in recovery", func(t taskstore.Task) bool { return t.Handoff.Recovery })
		h.empty("tiny") // which is no fallback for this one
		_, err = takeover()
		h.cannotRead(err)
		if back := h.accept("coder", h.waitFor("coder", func(i view.Item) bool { return i.Type == view.ItemOffer })); back.Owner != "coder" {
			h.Errorf("its owner finds it again: %+v", back.Receipt)
		}
	})
}

// cannotRead checks that an agent was refused a task that does not fit it.
func (h *harness) cannotRead(err error) {
	h.Helper()
	no, _ := refusal.As(err)
	if no == nil || no.Code != refusal.Budget || !strings.Contains(no.Message, "tiny cannot read") || no.Details["needed"] == nil || no.Details["budget"] == nil {
		h.Errorf("refused for want of room: %v", err)
	}
}

func TestAWaitWithoutChildrenIsRefused(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "go", Start: true})
		for name, in := range map[string]handoffs.SendInput{
			"warm": {}, "a claim": {Kind: event.Broadcast}, "a fan-out that nobody waits for": {Kind: event.Broadcast, FanOut: true, FanIn: event.FanIn{Mode: event.FanInNone}},
		} {
			in.Task, in.Epoch, in.To, in.Timeouts.Wait = r.Task, r.Epoch, []string{"bob"}, event.Duration(time.Minute)
			_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Send(ctx(h), c, in) })
			no, _ := refusal.As(err)
			if no == nil || no.Code != refusal.Invalid || !strings.Contains(no.Hint, "leave the wait timeout out") {
				h.Errorf("%s: %v", name, err)
			}
		}
		if now := h.task(r.Task); now.Handoff != nil || now.Owner != "ann" {
			h.Errorf("a refused handoff left something: %+v", now.Task)
		}
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Kind: event.Delegation, Timeouts: event.Timeouts{Wait: event.Duration(time.Minute)}})
	})
}
