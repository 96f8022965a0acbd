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

// dropped is a line for each task that has entries of which there is only the number: its own without its id. What a cold handoff left out has a line of its own.
func dropped(e *Envelope) []prompt.Entry {
	type line struct {
		task string
		cold bool
	}
	type sum struct {
		word  string
		count int
	}
	var order []line
	lines := map[line][]sum{}
	for _, d := range e.Dropped {
		of, word := line{d.Task, d.Kind.Cold()}, droppedWords[d.Kind]
		if lines[of] == nil {
			order = append(order, of)
		}
		if at := slices.IndexFunc(lines[of], func(s sum) bool { return s.word == word }); at >= 0 {
			lines[of][at].count += d.Count
			continue
		}
		lines[of] = append(lines[of], sum{word, d.Count})
	}
	entries := make([]prompt.Entry, len(order))
	for i, of := range order {
		words := make([]string, len(lines[of]))
		for n, s := range lines[of] {
			words[n] = fmt.Sprintf("%s ×%d", s.word, s.count)
		}
		label := strings.Join(words, ", ")
		if of.cold {
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
func (k DroppedKind) recorded() bool { return k != DroppedPins && k != DroppedTurns && !k.Cold() }

// Sent reports whether the entries were given with a cold handoff.
func (k DroppedKind) Sent() bool { return strings.HasPrefix(string(k), "sent_") }

// Before is the kind of entries that were given with a cold handoff once a task has had that: all other kinds stay.
func (k DroppedKind) Before() DroppedKind {
	if kind, sent := strings.CutPrefix(string(k), "sent_"); sent {
		return DroppedKind("cold_" + kind)
	}
	return k
}

// Cold reports whether a cold handoff left the entries out.
func (k DroppedKind) Cold() bool { return k.Sent() || strings.HasPrefix(string(k), "cold_") }

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
	ColdTexts:      "texts",
	ColdFacts:      "facts",
	ColdDecisions:  "decisions",
	ColdQuestions:  "open questions",
	ColdSteps:      "steps",
	ColdMemory:     "memory items",
	ColdFiles:      "files",
}
