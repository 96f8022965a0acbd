package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// rejectMissing rejects an offer for the want of some context.
func (h *harness) rejectMissing(agent, detail string, missing ...string) {
	h.Helper()
	item := h.wait(agent)
	ok(h, h.agent(agent), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Reject(ctx(h), c, tasks.RejectInput{Handoff: item.ID, Offer: item.Offer, Reason: event.MissingContext, Missing: missing, Detail: detail})
	})
}

// mustRead checks that a prompt has texts.
func (h *harness) mustRead(who, prompt string, want ...string) {
	h.Helper()
	for _, text := range want {
		if !strings.Contains(prompt, text) {
			h.Errorf("%s does not read %q in:\n%s", who, text, prompt)
		}
	}
}

func TestTheNextReceiverReadsWhatTheContextLacks(t *testing.T) {
	story(t, func(h *harness) {
		h.join("triage", "picky", "coder", "tester")
		r := h.create(h.agent("triage"), tasks.CreateInput{Intent: "fix", Timeouts: event.Timeouts{Lease: event.Duration(time.Hour)}, Start: true})
		h.send(h.agent("triage"), r, handoffs.SendInput{To: []string{"picky", "coder"}})
		h.rejectMissing("picky", "nobody says which", "the branch", "the log")
		rejection := "the context lacks the branch, the log — nobody says which"
		got := h.acceptPrompt("coder")
		h.mustRead("the next candidate of the same handoff", got.Content.Prompt, "picky", rejection)

		ok(h, h.agent("coder"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.ReportGap(ctx(h), c, tasks.GapInput{Task: got.Task, Epoch: got.Epoch, Missing: []string{"the key"}, Detail: "step 1 is done"})
		})
		h.send(h.agent("coder"), got.Receipt, handoffs.SendInput{To: []string{"picky"}})
		h.rejectMissing("picky", "", "the seed")
		h.wait("coder")
		h.send(h.agent("coder"), got.Receipt, handoffs.SendInput{To: []string{"tester"}})
		h.mustRead("the next receiver", h.acceptPrompt("tester").Content.Prompt, rejection, "the context lacks the key — step 1 is done", "the context lacks the seed")
	})
}
