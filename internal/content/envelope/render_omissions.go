package envelope

import "fmt"

// leftOut lists omissions and gaps, in the form of the document's listing.
func (p *prompt) leftOut(e *Envelope) {
	var list func(*Envelope) []string
	switch e.Packing.Listing {
	case ListTotal:
		list = totalLeftOut
	case ListGroups:
		list = groupsLeftOut
	default:
		list = eachLeftOut
	}
	p.list("Left out", "This is not in your prompt. Fetch what you need.", list(e))
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
		line := word(string(o.Kind))
		title := ""
		switch m := refs[o.ID]; {
		case o.Kind == PartMemory && m != nil:
			line += " " + m.label()
			title = m.Title
		case o.ID != "":
			line += " " + word(o.ID)
		case o.Count > 1:
			line += fmt.Sprintf(" ×%d", o.Count)
		}
		line += tokens(o.Tokens) + ", " + o.Reason.inWords()
		if o.Pinned {
			line += ", though pinned"
		}
		if title != "" {
			line += ": " + word(title)
		}
		entries = append(entries, line)
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
	return word(string(r)) // never in a validated envelope
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
