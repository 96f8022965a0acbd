package scenario

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func bubble(t *testing.T, kind string, tell func(h *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, kind)
		defer h.stop()
		tell(h)
	})
}

func TestATaskTravelsFromOneAgentToAnother(t *testing.T) {
	story(t, func(h *harness) {
		h.join("triage", "coder")
		r := h.create(h.agent("triage"), tasks.CreateInput{Intent: "fix the login", Start: true})
		r = h.send(h.agent("triage"), r, handoffs.SendInput{
			To: []string{"coder"}, Reason: event.ReasonSpecialization,
			Content: envelopes.Content{Ask: "write the fix", Facts: []envelopes.Point{{Text: "the cookie expires"}}},
		})
		if r.State != event.HandingOff || r.Owner != "triage" {
			h.Fatalf("before acceptance triage still owns the task: %+v", r)
		}
		item := h.wait("coder")
		a := h.accept("coder", item)
		if a.Owner != "coder" || a.State != event.Executing || a.Epoch != 2 {
			h.Fatalf("after acceptance: %+v", a.Receipt)
		}
		if a.Content == nil || !strings.Contains(string(a.Content.Envelope), "the cookie expires") {
			h.Fatalf("the content did not come along: %+v", a.Content)
		}
		h.progress("coder", a.Receipt, "found it")
		if r := h.complete("coder", a.Receipt, "done"); r.State != event.Completed {
			h.Fatalf("completed: %+v", r)
		}
		h.empty("coder")
	})
}

func TestAnOfferThatIsSeenAndNotAnsweredIsRetriedAndThenGoesToTheFallback(t *testing.T) {
	story(t, func(h *harness) {
		h.join("triage", "backup")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}, Breaker: agents.Breaker{Failures: 10}})
		r := h.create(h.agent("triage"), tasks.CreateInput{Intent: "fix", Start: true})
		h.send(h.agent("triage"), r, handoffs.SendInput{To: []string{"coder"}})
		for try := range 4 {
			h.waitFor("coder", func(i view.Item) bool { return i.Offer == try+1 })
		}
		item := h.wait("backup")
		if a := h.accept("backup", item); a.Owner != "backup" {
			h.Fatalf("accepted: %+v", a.Receipt)
		}
	})
}

func TestAnOwnerThatDiesIsReplacedByARecoveryAndItsEpochIsDead(t *testing.T) {
	story(t, func(h *harness) {
		h.join("triage", "backup")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("triage"), tasks.CreateInput{Intent: "fix", Timeouts: event.Timeouts{Lease: event.Duration(time.Minute)}, Start: true})
		h.send(h.agent("triage"), r, handoffs.SendInput{To: []string{"coder"}})
		old := h.accept("coder", h.wait("coder"))
		h.progress("coder", old.Receipt, "half way")
		fresh := h.accept("backup", h.wait("backup"))
		if fresh.Owner != "backup" || fresh.Epoch != old.Epoch+1 {
			h.Fatalf("recovered: %+v", fresh.Receipt)
		}
		if !strings.Contains(string(fresh.Content.Envelope), "half way") {
			h.Fatalf("the progress is not in the envelope: %s", fresh.Content.Envelope)
		}
		_, err := call(h.agent("coder"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Complete(ctx(h), c, tasks.CompleteInput{Task: old.Task, Epoch: old.Epoch})
		})
		if err == nil {
			h.Fatal("the old owner finished a task that it had lost")
		}
		h.complete("backup", fresh.Receipt, "done")
	})
}

func TestADelegationBringsItsResultBack(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "ship it", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "write the code"}})
		if r.State != event.Waiting || len(r.Children) != 1 {
			h.Fatalf("delegated: %+v", r)
		}
		a := h.accept("coder", h.wait("coder"))
		h.complete("coder", a.Receipt, "the code")
		parent := h.inState(r.Task, event.Executing)
		if c := parent.Children[0]; c.State != event.Completed || c.Result.Text != "the code" {
			h.Fatalf("the result: %+v", c)
		}
		h.complete("lead", r, "shipped")
	})
}
