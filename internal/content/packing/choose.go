package packing

import (
	"cmp"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// measure sets the cost of each part, and the order in which parts are tried.
func (p *packer) measure() {
	for i := range p.parts {
		x := &p.parts[i]
		switch {
		case x.kind == envelope.PartMemory && p.doc.Memory[x.index].Text == "":
			x.tokens = p.doc.Memory[x.index].Tokens // the number that the sender gives
		case x.kind == envelope.PartReasoning:
			item := p.parts[x.index]
			item.reasoning = true
			x.tokens = max(0, p.costs.alone(&item, p.doc)-p.costs.frame(item.kind)-p.parts[x.index].tokens)
		default:
			x.tokens = max(0, p.costs.alone(x, p.doc)-p.costs.frame(x.kind))
		}
		if !x.excluded {
			x.line = p.costs.line(x, p.doc)
			p.order = append(p.order, i)
		}
	}
	slices.SortStableFunc(p.order, func(a, b int) int {
		x, y := &p.parts[a], &p.parts[b]
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(y.worth(), x.worth()))
	})
}

// choose takes parts into the envelope, in order, as long as they fit, and returns the parts taken, pinned ones first.
func (p *packer) choose(listing envelope.Listing) (taken []int) {
	if p.options.Strategy == event.StrategyFull {
		return nil
	}
	for i := range p.parts {
		p.parts[i].in = false
	}
	c := choice{packer: p, each: listing == envelope.ListEach, framed: map[envelope.PartKind]bool{}}
	c.total = p.build(listing).Tokens
	// First the parts that cost no more than their line in the list of omissions: taking them saves tokens.
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

// displaces reports whether the list of omissions displaces a part that is pinned or describes the state of the work, and
// that would fit beside the shortest form of the list.
func (p *packer) displaces() bool {
	var out []int
	for _, i := range p.order {
		if x := &p.parts[i]; x.rank() < 2 && !x.in {
			out = append(out, i)
		}
	}
	if len(out) == 0 || p.options.Strategy == event.StrategyFull {
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

// choice is the sum of the parts taken so far.
type choice struct {
	*packer
	each   bool                       // whether each omission has a line
	framed map[envelope.PartKind]bool // the kinds whose list frame is in total
	total  int
}

// try takes a part if that adds at most limit tokens.
func (c *choice) try(i, limit int) {
	x := &c.parts[i]
	adds := x.tokens
	if !c.framed[x.kind] {
		adds += c.costs.frame(x.kind)
	}
	if c.each {
		adds -= x.line
	}
	if !x.in && adds <= limit {
		x.in, c.framed[x.kind] = true, true
		c.total += adds
	}
}

// rank orders pinned parts before the texts on the state of the work, and those before all others.
func (x *part) rank() int {
	switch {
	case x.pinned:
		return 0
	case x.describesState():
		return 1
	}
	return 2
}

// describesState reports whether the part is the sender's own account of the state of the work. Its value does not depend
// on its length.
func (x *part) describesState() bool {
	switch x.kind {
	case envelope.PartState, envelope.PartNotes, envelope.PartSummary, envelope.PartDetail:
		return true
	default:
		return false
	}
}

// worth is the value of the part; per token, except for parts that describe the state of the work.
func (x *part) worth() float64 {
	value := kindValue(x.kind) * (0.7*x.weight.Importance + 0.3*x.weight.Recency)
	if x.describesState() {
		return value
	}
	return value / float64(max(1, x.tokens))
}

// kindValue is the value of parts of one kind relative to other kinds.
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
