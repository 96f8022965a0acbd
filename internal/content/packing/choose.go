package packing

import (
	"sort"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// measure sets the cost of each part, and lists the parts that may be taken.
func (p *packer) measure() {
	for i := range p.parts {
		x := &p.parts[i]
		switch {
		case x.kind == envelope.PartMemory && p.doc.Memory[x.index].Text == "":
			x.tokens = p.doc.Memory[x.index].Tokens // the number that the sender gives
		case x.kind == envelope.PartReasoning:
			item := p.parts[x.index]
			item.reasoning = true
			x.tokens = max(0, p.costs.alone(&item, p.doc)-p.costs.besides(&item)-p.parts[x.index].tokens)
		default:
			x.tokens = max(0, p.costs.alone(x, p.doc)-p.costs.besides(x))
		}
		if !x.excluded {
			p.order = append(p.order, i)
		}
	}
	p.bound()
	for _, i := range p.order {
		p.parts[i].line = p.costs.line(&p.parts[i], p.doc)
	}
}

// near is by how many tokens the exact count of a prompt may be below the sums of its parts: a fence is shorter than in the
// prompt of each part alone, and so is the list of omissions when only one kind of parts is left.
const near = 64

// choose takes as many parts of the chain as fit. A larger budget takes no fewer: whether the first n parts are found to
// fit depends on the budget in one direction only, for each n, in the sums and in the exact counts.
func (p *packer) choose() (fits bool) {
	base := p.take(0)
	p.chain(base)
	p.sum = p.sums(base)
	return p.fit()
}

// fit is choose for a chain and its sums. It fits a budget if it fits a smaller one.
func (p *packer) fit() bool {
	costs := p.sum
	n := len(costs) - 1
	for n > 0 && costs[n].tokens+p.reserved(costs[n]) > p.budget {
		n--
	}
	if exact := p.take(n); exact > p.budget {
		for ; exact > p.budget && n > 0; exact = p.take(n) {
			n--
		}
		return exact <= p.budget
	}
	for n+1 < len(costs) && costs[n+1].tokens+p.reserved(costs[n+1])-near <= p.budget &&
		p.take(n+1)+p.reserved(costs[n+1]) <= p.budget {
		n++
	}
	p.set(n)
	return true
}

// least is the smallest budget that choose finds parts for, from below: the prompt without parts is not always the shortest, since a tiny
// part can have fewer tokens than the list that says it was left out.
func (p *packer) least(base int) int {
	budget := p.budget
	defer func() { p.budget = budget }()
	return sort.Search(base, func(n int) bool {
		p.budget = n
		return n > 0 && p.fit()
	})
}

// set takes the first n parts of the chain and no others.
func (p *packer) set(n int) {
	for at, i := range p.order {
		p.parts[i].in = at < n
	}
}

// take does the same, and returns the tokens of the prompt with the shortest list of omissions.
func (p *packer) take(n int) int {
	p.set(n)
	return p.build(envelope.ListTotal).Tokens
}

// spent is the cost of the first parts of the chain.
type spent struct {
	tokens int  // of the prompt with the shortest list of omissions
	first  bool // whether the last of the parts is of the first ranks
	// The tokens of the list of omissions in its longer forms, and what they have more than the shortest.
	each, groups         int
	moreEach, moreGroups int
}

// sums returns the costs of the first 0, 1, 2, ... parts of the chain, as far as sums can tell.
func (p *packer) sums(base int) []spent {
	list := make([]spent, 1, len(p.order)+1)
	p.set(0)
	total, each, groups := p.list(envelope.ListTotal), p.list(envelope.ListEach), p.list(envelope.ListGroups)
	list[0] = spent{tokens: base, first: true, each: each, groups: groups, moreEach: each - total, moreGroups: groups - total}
	base -= total
	taken, left := sum{p: p}, map[group]envelope.Omission{}
	for i := range p.parts {
		x := &p.parts[i]
		o := left[x.group()]
		left[x.group()] = envelope.Omission{Kind: x.kind, Reason: x.why, Count: o.Count + x.omission().Parts(), Tokens: o.Tokens + x.tokens}
	}
	for n, i := range p.order {
		x := &p.parts[i]
		taken.add(i)
		if x.pinned || x.important() { // the shortest list names it until it is taken
			p.set(n + 1)
			total = p.list(envelope.ListTotal)
		}
		next := list[n]
		next.tokens, next.first = base+taken.tokens+total, x.rank() <= state
		next.each, next.moreEach = max(0, next.each-x.line), max(0, next.moreEach-x.line)
		o := left[x.group()]
		if o.Count -= x.omission().Parts(); o.Count == 0 {
			line := p.costs.groupLine(o)
			next.groups, next.moreGroups = max(0, next.groups-line), max(0, next.moreGroups-line)
		}
		left[x.group()] = o
		list = append(list, next)
	}
	return list
}

// group is what one line of the list of omissions stands for in the form of groups.
type group struct {
	kind envelope.PartKind
	why  envelope.OmissionReason
}

func (x *part) group() group { return group{x.kind, x.why} }

// list is the number of tokens of the list of omissions in one form.
func (p *packer) list(listing envelope.Listing) int {
	e := p.compose(listing)
	return p.costs.leftOut(&e)
}

// reserved is the number of tokens that parts leave to the list of omissions beyond its shortest form. Parts of the first
// ranks leave none. A form gets its tokens when it has no more than its share of the budget; shortly before, each token that the
// budget grows by is saved for it, so that no part has to go when it comes.
func (p *packer) reserved(s spent) int {
	if s.first {
		return 0
	}
	save := func(list, more int) int { return max(0, min(more, p.budget-list*p.listingPart()+more)) }
	return max(save(s.groups, s.moreGroups), save(s.each, s.moreEach))
}

// listingPart is the number n where the list of omissions takes no more than the n-th part of the budget in any but its
// shortest form. The share is larger for the strategies whose receivers fetch parts by that list.
func (p *packer) listingPart() int {
	switch p.options.Strategy {
	case event.StrategyLazy, event.StrategySummaryRefs:
		return 2
	default:
		return 10
	}
}
