package drift

import (
	"encoding/json"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// kind is a sort of entry that is followed through a chain.
type kind int

const (
	facts kind = iota
	decisions
	constraints
	references
	kinds int = iota
)

func (k kind) String() string {
	return [...]string{"facts", "decisions", "constraints", "references"}[k]
}

// entry is one fact, decision, constraint or reference.
type entry struct {
	id, text, supersedes string
	content              string // what is compared, if the text is not all of it
	constraint           event.Constraint
	reference            bool
}

func (e entry) same(o entry) bool { return e.text == o.text && e.content == o.content }

// how says in which way an entry with the same id differs.
func (e entry) how(next entry) How {
	switch {
	case e.reference:
		return Revised
	case e.constraint.ID == "":
		return Reworded
	case next.constraint.Tightens(e.constraint):
		return Tightened
	}
	return Loosened
}

// of lists the entries of a kind in an envelope.
func (k kind) of(e envelope.Envelope) []entry {
	switch k {
	case facts:
		return items(e.KeyFacts)
	case decisions:
		return items(e.Decisions)
	case constraints:
		return rules(e.Constraints)
	default:
		return refs(e)
	}
}

func items(list []envelope.Item) []entry {
	out := make([]entry, len(list))
	for i, item := range list {
		out[i] = entry{id: item.ID, text: item.Text, supersedes: item.Supersedes}
	}
	return out
}

func rules(list []envelope.Constraint) []entry {
	out := make([]entry, len(list))
	for i, c := range list {
		rule := event.Constraint{ID: c.ID, Kind: c.Kind, Text: c.Text, Hard: c.Hard, Max: c.Max, Allow: c.Allow}
		if len(rule.Allow) == 0 {
			rule.Allow = nil // an envelope does not tell "anything" from "nothing"
		}
		content, err := json.Marshal(rule)
		if err != nil {
			content = nil // only a maximum that is no number; no valid envelope has one
		}
		out[i] = entry{id: c.ID, text: c.Text, content: string(content), constraint: rule}
	}
	return out
}

func refs(e envelope.Envelope) []entry {
	out := make([]entry, 0, len(e.Memory)+len(e.Artifacts))
	for _, m := range e.Memory {
		content, err := json.Marshal([]any{m.Version, m.Digest})
		if err != nil {
			content = nil // a number and a text cannot fail
		}
		out = append(out, entry{id: m.ID, text: m.Title, content: string(content), reference: true})
	}
	for _, a := range e.Artifacts {
		if !slices.ContainsFunc(out, func(o entry) bool { return o.id == a.Digest }) {
			out = append(out, entry{id: a.Digest, text: a.Name, reference: true})
		}
	}
	return out
}

// omission is why the envelope left out an entry, or could not get it; empty if it does not say.
func (k kind) omission(e envelope.Envelope, id string) string {
	var part []envelope.PartKind
	switch k {
	case facts:
		part = []envelope.PartKind{envelope.PartFact}
	case decisions:
		part = []envelope.PartKind{envelope.PartDecision}
	case constraints: // never left out
	default:
		part = []envelope.PartKind{envelope.PartMemory, envelope.PartArtifact}
	}
	for _, o := range e.Omissions {
		if o.ID == id && slices.Contains(part, o.Kind) {
			return string(o.Reason)
		}
	}
	for _, g := range e.Gaps {
		if g.ID == id && slices.Contains(part, g.Kind) {
			return string(g.Reason)
		}
	}
	return ""
}
