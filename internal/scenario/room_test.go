package scenario

import (
	"strings"
)

// at reads where a task is, and whom it is offered to.
func (w *town) at(task string) (state, stage, to string) {
	w.Helper()
	got := w.task(task)
	if got.Handoff == nil {
		return string(got.State), "", ""
	}
	return string(got.State), string(got.Handoff.Stage), strings.Join(got.Handoff.To, " ")
}
