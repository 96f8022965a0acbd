//go:build slow || outside

package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// notes are the progress notes of a history.
func notes(doc envelope.Envelope) (texts []string) {
	for _, s := range doc.History {
		if s.Action == "progress" {
			texts = append(texts, s.Agent+": "+s.Detail)
		}
	}
	return texts
}

func TestARecoveryPassesOnWhatTheLostOwnerReportedStepByStep(t *testing.T) {
	story(t, func(h *harness) {
		h.join("triage", "backup")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("triage"), tasks.CreateInput{Intent: "fix", Timeouts: event.Timeouts{Lease: event.Duration(time.Hour)}, Start: true})
		h.send(h.agent("triage"), r, handoffs.SendInput{To: []string{"coder"}})
		got := h.accept("coder", h.wait("coder")).Receipt
		var want []string
		for n := range task.MaxNotes + 5 {
			h.progress("coder", got, fmt.Sprintf("step %d", n))
			want = append(want, fmt.Sprintf("coder: step %d", n))
		}
		want = want[5:]
		fresh := h.acceptPrompt("backup")
		if told := notes(packed(h, *fresh.Content)); !slices.Equal(told, want) {
			h.Errorf("the receiver is told %q", told)
		}
		h.mustRead("backup", fresh.Content.Prompt, "earlier progress notes ×5")
		h.progress("backup", fresh.Receipt, "step 24") // in the very words of another
		h.send(h.agent("backup"), fresh.Receipt, handoffs.SendInput{To: []string{"triage"}})
		h.reject("triage", h.wait("triage"), event.Overloaded)
		h.progress("backup", fresh.Receipt, "step 25")
		h.send(h.agent("backup"), fresh.Receipt, handoffs.SendInput{To: []string{"triage"}})
		want = append(want, "backup: step 24", "backup: step 25")
		if told := notes(packed(h, *h.acceptPrompt("triage").Content)); !slices.Equal(told, want) {
			h.Errorf("each note once, after a rejection too: %q", told)
		}
	})
}

func TestARecoveryThatNobodyCanReadEndsInTheDeadLetters(t *testing.T) {
	story(t, func(h *harness) {
		r := h.sendLong()
		h.accept("coder", h.wait("coder"))
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"tiny"}, ContextWindow: 500}) // it can read less than before
		parked := h.inState(r.Task, event.Parked)
		for _, want := range []string{"the owner coder was lost", "coder has too small a token budget", "tiny has too small a token budget"} {
			if !strings.Contains(parked.Parked.Detail, want) {
				h.Errorf("the dead letter does not say %q: %+v", want, parked.Parked)
			}
		}
	})
}
