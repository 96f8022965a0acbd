package scenario

import (
	"bytes"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// withPeople adds what people decide, an owner that is stuck, and ends that nobody asked for.
func (h *harness) withPeople() {
	h.Helper()
	h.register("clerk", agents.AgentSpec{Fallbacks: []string{"backup"}, ContextWindow: 8000})
	send := func(intent string, in handoffs.SendInput) taskstore.Receipt {
		in.Reason = event.ReasonUserRequest
		return h.create(h.agent("lead"), tasks.CreateInput{Intent: intent, Send: &in})
	}
	do := func(by caller.Caller, fn func(caller.Caller) (taskstore.Receipt, error)) { ok(h, by, fn) }
	for _, intent := range []string{"is approved", "is denied"} {
		r := send(intent, handoffs.SendInput{To: []string{"clerk"}, Kind: event.Supervised})
		do(h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			if intent == "is denied" {
				return h.app.Tasks.Deny(ctx(h), c, tasks.DenyInput{ID: r.Handoff, Detail: "no"})
			}
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: r.Handoff})
		})
	}
	owned := h.accept("clerk", h.wait("clerk")).Receipt
	do(h.agent("clerk"), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tickets.Ask(ctx(h), c, tickets.AskInput{Task: owned.Task, Epoch: owned.Epoch, Question: "and then?"})
	})
	withdrawn := send("is cancelled", handoffs.SendInput{To: []string{"clerk"}})
	do(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: withdrawn.Task})
	})
	send("for a person", handoffs.SendInput{To: []string{"human:operators"}})
	stuck := send("is stuck", handoffs.SendInput{To: []string{"clerk"}})
	h.accept("clerk", h.waitFor("clerk", func(i view.Item) bool { return i.Task == stuck.Task }))
	do(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Stuck(ctx(h), c, tasks.StuckInput{Task: stuck.Task, Detail: "silent"})
	})
}

// failsLate has a handoff fail now, in the last hour.
func (h *harness) failsLate() {
	h.Helper()
	h.register("lone", agents.AgentSpec{})
	late := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fails late", Send: &handoffs.SendInput{To: []string{"lone"}, Reason: event.ReasonUserRequest}})
	ok(h, h.agent("lone"), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Reject(ctx(h), c, tasks.RejectInput{Handoff: late.Handoff, Reason: event.NotCapable})
	})
	h.settle()
}

// everything makes handoffs that end in many ways.
func (h *harness) everything() {
	h.Helper()
	h.mixed()
	h.withPeople()
	h.settle()
	h.failsLate()
}

// exported is an export of the record as lines.
func (h *harness) exported() []byte {
	h.Helper()
	return ok(h, h.as(identity.Auditor, "kim"), func(c caller.Caller) ([]byte, error) {
		var b bytes.Buffer
		err := h.app.History.Export(ctx(h), c, history.ExportInput{Format: view.FormatLines}, &b)
		return b.Bytes(), err
	})
}
