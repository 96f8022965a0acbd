package envelope_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event/idform"
)

// A line of a fact or decision begins with its id: none is a word that begins a line of the prompt's own, alone or with a comma, as in a list.
func TestNoIDOfAFactIsAWordThatBeginsALineOfThePrompt(t *testing.T) {
	words := map[string]bool{}
	read := func(e envelope.Envelope) {
		for _, m := range regexp.MustCompile(`(?m)^\(?([A-Za-z]+)`).FindAllStringSubmatch(envelope.Render(e), -1) {
			words[m[1]] = true
		}
	}
	one := func(e envelope.Envelope) {
		e.Handoff.TaskID, e.Handoff.From, e.Task.Intent = "task_1", "ann", "1"
		read(e)
	}
	for _, kind := range envelope.PartKinds.Values() {
		for _, o := range []envelope.Omission{{Kind: kind, ID: "1"}, {Kind: kind, Pinned: true}, {Kind: kind, Important: true}} {
			for _, how := range []envelope.Listing{envelope.ListEach, envelope.ListGroups, envelope.ListTotal} {
				one(envelope.Envelope{Omissions: []envelope.Omission{o}, Packing: envelope.Packing{Listing: how}, Gaps: []envelope.Gap{{Kind: kind, ID: "1", Reason: envelope.GapForgotten}}})
			}
		}
	}
	for _, kind := range envelope.DroppedKinds.Values() {
		for _, task := range []string{"task_1", "task_2"} {
			one(envelope.Envelope{Dropped: []envelope.Dropped{{Kind: kind, Count: 1, Task: task}}})
		}
	}
	one(envelope.Envelope{
		KeyFacts:  []envelope.Item{{ID: "1", Text: "1", By: "mal", Supersedes: "2", WasBy: "eve"}, {ID: "3", Text: "1", WasBy: "ann"}},
		Memory:    []envelope.MemoryRef{{ID: "mem_1", Title: "1"}},
		Artifacts: []envelope.Artifact{{Digest: envelope.DigestOf(nil)}},
	})
	for _, word := range []string{"Fenced", "by", "pinned", "important", "memory", "left", "parts", "references", "artifact"} {
		if !words[word] {
			t.Errorf("no line begins with %s: %v", word, words)
		}
	}
	for word := range words {
		for _, id := range []string{word, strings.ToUpper(word), word + "."} {
			if word != "sha" && idform.IsPoint(id) {
				t.Errorf("the id %s of a fact, with which a line of the prompt's own begins, is not quoted", id)
			}
		}
	}
}
