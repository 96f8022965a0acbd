//go:build slow

package handoffs_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
)

// TestTheNoteOfAReplayReachesItsReceiver: however long the detail of the handoff was.
func TestTheNoteOfAReplayReachesItsReceiver(t *testing.T) {
	const note = "The press is repaired: go on."
	for _, detail := range []string{"", "First try", strings.Repeat("é", event.MaxText/2), strings.Repeat("x", event.MaxText-len(note)-1)} {
		for _, note := range []string{note, strings.Repeat("n", event.MaxText)} {
			got := handoffs.Again(task.Task{}, &task.Handoff{Detail: detail}, note, false).Detail
			if !strings.HasSuffix(got, note) || len(note) < event.MaxText && !strings.HasPrefix(got, detail[:min(len(detail), 8)]) {
				t.Errorf("a detail of %d bytes with a note of %d: %d bytes, ending in %q", len(detail), len(note), len(got), got[max(0, len(got)-40):])
			}
			if err := event.CheckField("detail", got); err != nil {
				t.Error(err)
			}
		}
	}
}
