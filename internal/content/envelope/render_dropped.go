package envelope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/prompt"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// droppedTitle is the heading of the list of what was dropped for a bound. It names the call that reads the record of the task, if that has some of it and the
// reader may make it: not that of a share, who does not own the task.
func droppedTitle(e *Envelope, via Via) string {
	const title = "Not here"
	own := slices.ContainsFunc(e.Dropped, func(d Dropped) bool { return d.Task == e.Handoff.TaskID && d.Kind.recorded() })
	if !own || e.Handoff.shared() || strings.Trim(e.Handoff.TaskID, idLetters) != "" {
		return title
	}
	return title + "; the record has it (" + via.RecordCall(e.Handoff.TaskID) + ")"
}

// dropped is a line for each task that has entries of which there is only the number: its own without its id.
func dropped(e *Envelope) []prompt.Entry {
	var tasks []string
	lines := map[string][]string{}
	for _, d := range e.Dropped {
		if lines[d.Task] == nil {
			tasks = append(tasks, d.Task)
		}
		lines[d.Task] = append(lines[d.Task], fmt.Sprintf("%s ×%d", d.Kind.inWords(), d.Count))
	}
	entries := make([]prompt.Entry, len(tasks))
	for i, task := range tasks {
		entries[i].Label = strings.Join(lines[task], ", ")
		if task != e.Handoff.TaskID {
			entries[i].Label = "of task " + visible.Word(task) + ": " + entries[i].Label
		}
	}
	return entries
}

// recorded reports whether the record of the task has the entries.
func (k DroppedKind) recorded() bool { return k != DroppedPins && k != DroppedTurns }

func (k DroppedKind) inWords() string {
	switch k {
	case DroppedSteps:
		return "earlier steps"
	case DroppedAnswers:
		return "earlier answers of people"
	case DroppedNotes:
		return "earlier progress notes"
	case DroppedChanges:
		return "earlier changes of hands and results"
	case DroppedFiles:
		return "older files"
	case DroppedMemory:
		return "older memory items"
	case DroppedPins:
		return "pinned memory items, which a search finds,"
	case DroppedTurns:
		return "turns, which the conversation has,"
	case DroppedGaps:
		return "older references not to be had"
	}
	return visible.Word(string(k)) // never in a validated envelope
}
