package packing

import (
	"cmp"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// measure finds what each part costs, and the order in which parts are tried.
func (p *packer) measure() {
	for i := range p.parts {
		x := &p.parts[i]
		switch {
		case x.kind == envelope.PartMemory && p.doc.Memory[x.index].Text == "":
			x.tokens = p.doc.Memory[x.index].Tokens // as the sender says
		case x.kind == envelope.PartReasoning:
			item := p.parts[x.index]
			item.reasoning = true
			x.tokens = max(0, p.ruler.alone(&item, p.doc)-p.ruler.frame(item.kind)-p.parts[x.index].tokens)
		default:
			x.tokens = max(0, p.ruler.alone(x, p.doc)-p.ruler.frame(x.kind))
		}
		if !x.barred {
			x.line = p.ruler.line(x, p.doc)
			p.order = append(p.order, i)
		}
	}
	slices.SortStableFunc(p.order, func(a, b int) int {
		x, y := &p.parts[a], &p.parts[b]
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(y.worth(), x.worth()))
	})
}

// choose takes parts into the envelope, in order, as long as they fit, and returns what it took, pinned parts first.
func (p *packer) choose(listing envelope.Listing) (taken []int) {
	if p.options.Strategy == envelope.StrategyFull {
		return nil
	}
	for i := range p.parts {
		p.parts[i].in = false
	}
	c := choice{packer: p, each: listing == envelope.ListEach, framed: map[envelope.PartKind]bool{}}
	c.total = p.build(listing).Tokens
	// A part that takes less than its line among the omissions makes room.
	for _, i := range p.order {
		c.try(i, 0)
	}
	for _, i := range p.order {
		c.try(i, p.budget-c.total)
	}
	for _, i := range p.order {
		if p.parts[i].in {
			taken = append(taken, i)
		}
	}
	return taken
}

// displaces reports whether the list of what is left out takes the room of a part that is pinned, or that says where the
// work stands, and that has room beside the shortest list: less must not push out what comes before it.
func (p *packer) displaces() bool {
	var out []int
	for _, i := range p.order {
		if x := &p.parts[i]; x.rank() < 2 && !x.in {
			out = append(out, i)
		}
	}
	if len(out) == 0 || p.options.Strategy == envelope.StrategyFull {
		return false
	}
	was := make([]bool, len(p.parts))
	for i := range p.parts {
		was[i] = p.parts[i].in
	}
	p.choose(envelope.ListTotal)
	displaced := slices.ContainsFunc(out, func(i int) bool { return p.parts[i].in })
	for i := range p.parts {
		p.parts[i].in = was[i]
	}
	return displaced
}

// choice is the sum of what was taken so far.
type choice struct {
	*packer
	each   bool // whether each omission has a line
	framed map[envelope.PartKind]bool
	total  int
}

// try takes a part if that adds at most room tokens.
func (c *choice) try(i, room int) {
	x := &c.parts[i]
	adds := x.tokens
	if !c.framed[x.kind] {
		adds += c.ruler.frame(x.kind)
	}
	if c.each {
		adds -= x.line
	}
	if !x.in && adds <= room {
		x.in, c.framed[x.kind] = true, true
		c.total += adds
	}
}

// rank puts pinned parts before the texts on where the work stands, and those before all others.
func (x *part) rank() int {
	switch {
	case x.pinned:
		return 0
	case x.says():
		return 1
	}
	return 2
}

// says reports whether the part is the sender's own account of where the work stands. It is worth its length.
func (x *part) says() bool {
	switch x.kind {
	case envelope.PartState, envelope.PartNotes, envelope.PartSummary, envelope.PartDetail:
		return true
	default:
		return false
	}
}

// worth is the part's value; per token, except for what is worth its length.
func (x *part) worth() float64 {
	value := kindValue(x.kind) * (0.7*x.weight.Importance + 0.3*x.weight.Recency)
	if x.says() {
		return value
	}
	return value / float64(max(1, x.tokens))
}

// kindValue is how much parts of one kind are worth beside those of others.
func kindValue(kind envelope.PartKind) float64 {
	switch kind {
	case envelope.PartState:
		return 1.2
	case envelope.PartNotes:
		return 1.1
	case envelope.PartSummary, envelope.PartDecision:
		return 1
	case envelope.PartFact:
		return 0.9
	case envelope.PartMemory:
		return 0.8
	case envelope.PartDetail, envelope.PartArtifact:
		return 0.7
	default:
		return 0.6
	}
}
