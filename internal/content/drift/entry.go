package drift

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// entryKind is a kind of entry that is followed through a chain.
type entryKind int

const (
	facts entryKind = iota
	decisions
	constraints
	references
	kinds int = iota
)

func (k entryKind) String() string {
	return [...]string{"facts", "decisions", "constraints", "references"}[k]
}

// entry is one fact, decision, constraint or reference.
type entry struct {
	id, text, supersedes string
	lineage              []string
	by                   string // the author of a fact or decision
	content              string // compared besides the text
	constraint           event.Constraint
	parts                [4]part // of a constraint
	reference            bool
}

func (e entry) same(o entry) bool { return e.text == o.text && e.content == o.content }

// how returns how an entry with the same id differs.
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
func (k entryKind) of(e envelope.Envelope) []entry {
	switch k {
	case facts:
		return items(e.KeyFacts, e.Handoff.From)
	case decisions:
		return items(e.Decisions, e.Handoff.From)
	case constraints:
		return rules(e.Constraints)
	default:
		return refs(e)
	}
}

// items are facts or decisions. Without a recorded author, the sender of their envelope stands for it.
func items(list []envelope.Item, sender string) []entry {
	out := make([]entry, len(list))
	for i, item := range list {
		out[i] = entry{id: item.ID, text: item.Text, supersedes: item.Supersedes, lineage: item.Lineage, by: event.Bare(cmp.Or(item.By, sender))}
	}
	return out
}

// limits describes what a constraint limits, for a change of it.
func (e entry) limits() string { return " [" + e.constraint.Limits() + "]" }

// part is a part of a constraint, as text, and the principal that set it.
type part struct{ text, by string }

// setters names the principals that set the parts of a constraint that were other before.
func (e entry) setters(old entry) string {
	var by []string
	for i, p := range e.parts {
		if p.text != old.parts[i].text && p.by != "" && !slices.Contains(by, p.by) {
			by = append(by, p.by)
		}
	}
	return strings.Join(by, ", ")
}

func partsOf(c envelope.Constraint) [4]part {
	most, allow := "", ""
	if c.Max != nil {
		most = strconv.FormatFloat(*c.Max, 'g', -1, 64)
	}
	if c.Allow != nil {
		allow = strconv.Itoa(len(c.Allow)) + " " + strings.Join(c.Allow, " ")
	}
	return [4]part{
		{c.Text, event.Bare(cmp.Or(c.TextBy, c.Origin))},
		{strconv.FormatBool(c.Hard), event.Bare(cmp.Or(c.HardBy, c.Origin))},
		{most, event.Bare(cmp.Or(c.MaxBy, c.Origin))},
		{allow, event.Bare(cmp.Or(c.AllowBy, c.Origin))},
	}
}

// ruleOf is what a constraint asks for, without its setters.
func ruleOf(c envelope.Constraint) event.Constraint {
	return event.Constraint{ID: c.ID, Kind: c.Kind, Text: c.Text, Hard: c.Hard, Max: c.Max, Allow: c.Allow}
}

func rules(list []envelope.Constraint) []entry {
	out := make([]entry, len(list))
	for i, c := range list {
		rule := ruleOf(c)
		content, err := json.Marshal(rule)
		if err != nil {
			content = nil // only for a maximum that is not a number; no valid envelope has one
		}
		out[i] = entry{id: c.ID, text: c.Text, content: string(content), constraint: rule, parts: partsOf(c)}
	}
	return out
}

// named reports whether the prompt of an envelope has the id of a memory item without text: it is in the list of what was
// left out, unless that is only sums.
func named(e envelope.Envelope, m envelope.MemoryRef) bool {
	return e.Packing.Listing == "" || e.Packing.Listing == envelope.ListEach || m.Pinned && e.Packing.Listing == envelope.ListGroups
}

func refs(e envelope.Envelope) []entry {
	out := make([]entry, 0, len(e.Memory)+len(e.Artifacts))
	for _, m := range e.Memory {
		if m.Text == "" && !named(e, m) {
			continue // its omission says why
		}
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

// omission returns the reason that the envelope records for an omission or a gap; empty if it records none.
func (k entryKind) omission(e envelope.Envelope, id string) string {
	var part []envelope.PartKind
	switch k {
	case facts:
		part = []envelope.PartKind{envelope.PartFact}
	case decisions:
		part = []envelope.PartKind{envelope.PartDecision}
	case constraints: // never omitted
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
