package drift

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// questions is the id of the open questions, the only text that a sender can remove and not just replace.
const questions = "open_questions"

// texts are those that an envelope has once, and a list whose entries have no ids, with a line for each.
var texts = []struct {
	id string
	of func(envelope.Envelope) string
}{
	{string(envelope.PartState), func(e envelope.Envelope) string { return e.Task.State }},
	{string(envelope.PartSummary), func(e envelope.Envelope) string { return e.ConversationSummary }},
	{string(envelope.PartData), func(e envelope.Envelope) string { return clip(string(e.Task.Data), maxData) }},
	{questions, func(e envelope.Envelope) string { return strings.Join(e.OpenQuestions, "\n") }},
}

// maxData is the most characters of the data that a report repeats.
const maxData = 2000

// replacedTexts lists the texts that packed has instead of those of prev, or that its sender removed.
func replacedTexts(prev, full, packed envelope.Envelope) (replaced []Change) {
	for _, text := range texts {
		was, is := text.of(prev), text.of(packed)
		removed := text.id == questions && full.Handoff.Kind != event.Cold // packing never omits them
		if conversation.Condensed(was) && conversation.Condensed(is) {     // the server's, and not the sender's
			continue
		}
		if was != "" && was != is && (is != "" || removed) {
			replaced = append(replaced, Change{ID: text.id, By: packed.Handoff.From, How: Replaced, Before: was, After: is})
		}
	}
	return replaced
}

// lostTexts lists the texts that packed lacks and that its sender did not remove, with the reason if packed records one.
func lostTexts(prev, full, packed envelope.Envelope) (lost []Lost) {
	cold := full.Handoff.Kind == event.Cold
	for _, text := range texts {
		before := text.of(prev)
		was := cmp.Or(text.of(full), before)
		if was == "" || text.of(packed) != "" || text.id == questions && !cold {
			continue
		}
		l := Lost{ID: text.id, Text: was}
		if i := slices.IndexFunc(packed.Omissions, func(o envelope.Omission) bool { return string(o.Kind) == text.id }); i >= 0 {
			l.Why = string(packed.Omissions[i].Reason)
		}
		if before != "" && before != was {
			l.By, l.How, l.Before = packed.Handoff.From, Replaced, before
		}
		lost = append(lost, l)
	}
	if n := len(prev.History); cold && n > 0 { // packing omits steps one by one, and names them
		lost = append(lost, Lost{ID: "history", Text: "steps: " + strconv.Itoa(n)})
	}
	return lost
}
