package envelope

import (
	"fmt"
	"strconv"
	"time"
)

// memory writes the items whose text came along; the others are listed with what was left out.
func (p *prompt) memory(refs []MemoryRef) {
	entries := make([]string, 0, len(refs))
	for i := range refs {
		m := &refs[i]
		if m.Text == "" {
			continue
		}
		label := m.label()
		if m.Author != "" {
			label += ", by " + word(m.Author)
		}
		if m.Title != "" {
			label += " (" + word(m.Title) + ")"
		}
		entries = append(entries, label+": "+m.Text)
	}
	p.entries("From memory", "As it was when this was sealed.", entries)
}

func (m *MemoryRef) label() string {
	if m.Version == 0 {
		return word(m.ID)
	}
	return word(m.ID) + " v" + strconv.Itoa(m.Version)
}

func (p *prompt) conversation(turns []Turn) {
	entries := make([]string, 0, len(turns))
	for _, t := range turns {
		entry := word(t.Agent)
		if t.Role != "" {
			entry += " (" + word(t.Role) + ")"
		}
		if !t.Time.IsZero() {
			entry = micro(t.Time).Format(time.RFC3339) + " " + entry
		}
		entries = append(entries, entry+": "+t.Text)
	}
	p.list("The conversation, word for word", entries)
}

func (p *prompt) artifacts(list []Artifact) {
	entries := make([]string, 0, len(list))
	for _, a := range list {
		entry := word(a.Digest)
		if a.MediaType != "" {
			entry += " " + word(a.MediaType)
		}
		if a.Bytes > 0 {
			entry += fmt.Sprintf(" %d bytes", a.Bytes)
		}
		if a.Name != "" {
			entry += ": " + word(a.Name)
		}
		entries = append(entries, entry)
	}
	p.entries("Artifacts", "Fetch them by their digest.", entries)
}

// leftOut lists omissions and gaps, as briefly as the document's listing says.
func (p *prompt) leftOut(e *Envelope) {
	var entries []string
	switch e.Packing.Listing {
	case ListTotal:
		entries = totalLeftOut(e)
	case ListGroups:
		entries = groupsLeftOut(e)
	default:
		entries = eachLeftOut(e)
	}
	p.entries("Left out", "This is not in your prompt. Fetch what you need.", entries)
}

func eachLeftOut(e *Envelope) []string {
	entries := make([]string, 0, len(e.Omissions)+len(e.Gaps))
	var refs map[string]*MemoryRef
	if len(e.Omissions) > 0 {
		refs = make(map[string]*MemoryRef, len(e.Memory))
		for i := range e.Memory {
			refs[e.Memory[i].ID] = &e.Memory[i]
		}
	}
	for i := range e.Omissions {
		o := &e.Omissions[i]
		entry := word(string(o.Kind))
		title := ""
		switch m := refs[o.ID]; {
		case o.Kind == PartMemory && m != nil:
			entry += " " + m.label()
			title = m.Title
		case o.ID != "":
			entry += " " + word(o.ID)
		case o.Count > 1:
			entry += fmt.Sprintf(" ×%d", o.Count)
		}
		entry += tokens(o.Tokens) + ", " + o.Reason.inWords()
		if o.Pinned {
			entry += ", though pinned"
		}
		if title != "" {
			entry += ": " + word(title)
		}
		entries = append(entries, entry)
	}
	for _, g := range e.Gaps {
		entries = append(entries, fmt.Sprintf("%s %s: %s", word(string(g.Kind)), word(g.ID), g.Reason.inWords()))
	}
	return entries
}

func groupsLeftOut(e *Envelope) []string {
	type group struct {
		kind   PartKind
		reason OmissionReason
	}
	var order []group
	sums := map[group]*Omission{}
	for i := range e.Omissions {
		o := &e.Omissions[i]
		g := group{o.Kind, o.Reason}
		if sums[g] == nil {
			sums[g] = &Omission{}
			order = append(order, g)
		}
		sums[g].Count += o.Parts()
		sums[g].Tokens += o.Tokens
	}
	entries := make([]string, 0, len(order)+1)
	for _, g := range order {
		entries = append(entries, fmt.Sprintf("%s ×%d%s, %s",
			word(string(g.kind)), sums[g].Count, tokens(sums[g].Tokens), g.reason.inWords()))
	}
	return append(entries, gapsLeftOut(e)...)
}

func totalLeftOut(e *Envelope) []string {
	var entries []string
	n, sum := 0, 0
	for i := range e.Omissions {
		n += e.Omissions[i].Parts()
		sum += e.Omissions[i].Tokens
	}
	if n > 0 {
		entries = append(entries, fmt.Sprintf("parts ×%d%s", n, tokens(sum)))
	}
	return append(entries, gapsLeftOut(e)...)
}

func gapsLeftOut(e *Envelope) []string {
	if len(e.Gaps) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("references ×%d, not to be had", len(e.Gaps))}
}

func tokens(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d tokens", n)
}

func (r OmissionReason) inWords() string {
	switch r {
	case OverBudget:
		return "over the budget"
	case RawLog:
		return "a raw log"
	case Settled:
		return "already settled"
	case ToolCall:
		return "the sender's tool call"
	case OnDemand:
		return "to be fetched"
	}
	return word(string(r)) // not of a validated envelope
}

func (r GapReason) inWords() string {
	switch r {
	case GapNotFound:
		return "not found"
	case GapForgotten:
		return "forgotten since"
	case GapNotReadable:
		return "not yours to read"
	}
	return word(string(r))
}
