package envelope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/content/prompt"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// droppedTitle is the heading of the list of what was dropped for a bound. It names the call that reads the record of the task, if that has some of it and the
// reader may make it: not that of a share, who does not own the task.
func droppedTitle(e *Envelope, via fetchcall.Via) string {
	const title = "Not here"
	own := slices.ContainsFunc(e.Dropped, func(d Dropped) bool { return d.Task == e.Handoff.TaskID && d.Kind.recorded() })
	if !own || e.Handoff.shared() || strings.Trim(e.Handoff.TaskID, idLetters) != "" {
		return title
	}
	return title + "; the record has it (" + via.RecordCall(e.Handoff.TaskID) + ")"
}

// dropped is a line for each task that has entries of which there is only the number: its own without its id.
func dropped(e *Envelope) []prompt.Entry {
	type line struct {
		task string
		sent bool
	}
	var order []line
	lines := map[line][]string{}
	var sums Envelope // of what a cold handoff left out, whatever it was
	for _, d := range e.Dropped {
		sums.Drop(d.Kind.given(), d.Count, d.Task)
	}
	for _, d := range sums.Dropped {
		of := line{d.Task, d.Kind.Sent()}
		if lines[of] == nil {
			order = append(order, of)
		}
		lines[of] = append(lines[of], fmt.Sprintf("%s ×%d", droppedWords[d.Kind], d.Count))
	}
	entries := make([]prompt.Entry, len(order))
	for i, of := range order {
		label := strings.Join(lines[of], ", ")
		if of.sent {
			label = "left out by a cold handoff: " + label
		}
		if of.task != e.Handoff.TaskID {
			label = "of task " + visible.Word(of.task) + ": " + label
		}
		entries[i].Label = label
	}
	return entries
}

// recorded reports whether the record of the task has the entries.
func (k DroppedKind) recorded() bool {
	return k != DroppedPins && k != DroppedTurns && !k.given().Sent()
}

// Sent reports whether the entries were given with a cold handoff.
func (k DroppedKind) Sent() bool { return strings.HasPrefix(string(k), "sent_") }

// given is the kind of what was given with a cold handoff, for one of what was there before it.
func (k DroppedKind) given() DroppedKind {
	return DroppedKind(strings.Replace(string(k), "cold_", "sent_", 1))
}

var droppedWords = map[DroppedKind]string{
	DroppedSteps:   "earlier steps",
	DroppedAnswers: "earlier answers of people",
	DroppedNotes:   "earlier progress notes",
	DroppedChanges: "earlier changes of hands and results",
	DroppedFiles:   "older files",
	DroppedMemory:  "older memory items",
	DroppedPins:    "pinned memory items, which a search finds,",
	DroppedTurns:   "turns, which the conversation has,",
	DroppedGaps:    "older references not to be had",
	SentTexts:      "texts",
	SentFacts:      "facts",
	SentDecisions:  "decisions",
	SentQuestions:  "open questions",
	SentSteps:      "steps",
	SentMemory:     "memory items",
	SentFiles:      "files",
}
