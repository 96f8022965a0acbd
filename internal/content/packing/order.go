package packing

import (
	"cmp"
	"maps"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// The importance that divides ranks: a more important rank comes first, whatever its parts cost.
const (
	vitalImportance = envelope.Vital
	usualImportance = 0.5 // of what nobody has weighed
	minorImportance = 0.2
)

// What an author that is neither the requester nor an operator can make vital in one prompt. What is beyond it is as important as
// what nobody has weighed.
const (
	maxVital       = 32 // parts
	maxVitalTokens = 1024
	longVital      = 256 // tokens of a part that is too long for it: until it fits, a budget has to leave its place free
)

// short is the number of tokens up to which a part never waits for shorter ones.
const short = 128

// rank is the place of a part among the others: those of a lower rank are taken first. The first ranks, up to state, also come before
// the list of omissions. The package comment counts them from 1.
type rank int

const (
	ruled      rank = iota // pinned by the requester or an operator
	ruledVital             // importance 0.9 and more, by the requester or an operator
	pinned                 // by agents
	vital                  // importance 0.9 and more
	state                  // the sender's account of the state of the work
	ordinary               // importance from 0.2
	minor
)

func (x *part) rank() rank {
	switch important := x.weight.Importance >= vitalImportance; {
	case x.pinned && x.ruled:
		return ruled
	case x.pinned:
		return pinned
	case x.describesState():
		return state
	case important && x.ruled:
		return ruledVital
	case important:
		return vital
	case x.weight.Importance >= minorImportance:
		return ordinary
	}
	return minor
}

// chain orders the parts that may be taken. What is kept for a budget is the beginning of this order, so the order must not
// depend on the budget.
//
// It is the order of the ranks, and of value per token within a rank, with one exception: a part that has more tokens than
// all parts before it together, and more than [short], waits for parts with fewer. Else a long part would leave a small
// budget empty. But parts of the first ranks that fit half of the whole together do so in this order as well.
//
// The number base is the tokens of the prompt without parts.
func (p *packer) chain(base int) {
	rest := slices.Clone(p.order)
	slices.SortStableFunc(rest, func(a, b int) int {
		x, y := &p.parts[a], &p.parts[b]
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(y.worth(), x.worth()))
	})
	p.share(rest)
	c := chaining{sum: sum{p: p}, rest: rest}
	c.settle(base)
	p.order = p.order[:0]
	for len(c.rest) > 0 {
		p.order = append(p.order, c.next())
	}
}

// bound makes ordinary what an author finds vital beyond what it can: else an agent that finds all that it says vital displaces what
// others say.
func (p *packer) bound() {
	order := slices.Clone(p.order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.parts[b].worth(), p.parts[a].worth()) })
	type taken struct{ parts, tokens int }
	of := map[string]taken{}
	for _, i := range order {
		x := &p.parts[i]
		if x.rank() != vital || x.author == "" || x.recorded {
			continue
		}
		if t := of[x.author]; x.tokens <= longVital && t.parts < maxVital && t.tokens+x.tokens <= maxVitalTokens {
			of[x.author] = taken{t.parts + 1, t.tokens + x.tokens}
			continue
		}
		x.weight.Importance, x.why = usualImportance, envelope.OverShare
	}
}

// share orders the pinned and the vital parts of each rank, so that each author gets as many tokens of a budget as any other: nobody displaces what
// others find important by pinning more. Each author's own are in the order that they had.
func (p *packer) share(order []int) {
	type of struct {
		rank   rank
		author string
	}
	sum, until := map[of]int{}, make([]int, len(p.parts))
	for _, i := range order {
		x := &p.parts[i]
		if t := x.rank(); t < state {
			sum[of{t, x.author}] += x.tokens
			until[i] = sum[of{t, x.author}]
		}
	}
	if len(sum) == 0 {
		return
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.parts[a].rank(), p.parts[b].rank()), cmp.Compare(until[a], until[b]))
	})
}

// chaining is a chain under way, and the sum of its parts so far.
type chaining struct {
	sum
	rest []int // the parts that are not in it yet
	// settled are the parts among rest that go within room, with the tokens waiting.
	settled map[int]bool
	room    int
	waiting int
}

// settle finds the parts of the first ranks that fit half of the whole. Whether all parts of a rank do is an exact count,
// since each part that is taken makes the list of omissions shorter; of the rank that is too long, and those after it, a part
// goes if it fits by the sums.
func (c *chaining) settle(base int) {
	half := c.p.take(len(c.p.order)) / 2
	c.settled, c.room = map[int]bool{}, half-base
	c.p.set(0)
	first, fits := sum{p: c.p}, true
	for t := ruled; t <= state; t++ {
		var parts []int
		with := sum{p: c.p, framed: maps.Clone(first.framed), tokens: first.tokens}
		for _, i := range c.rest {
			if c.p.parts[i].rank() == t {
				parts = append(parts, i)
				c.p.parts[i].in = true
				with.add(i)
			}
		}
		if fits && len(parts) > 0 {
			exact := c.p.build(envelope.ListTotal).Tokens
			if fits = exact <= half; fits {
				c.room = half - (exact - with.tokens)
			}
		}
		for _, i := range parts {
			if fits || first.tokens+first.cost(i) <= c.room {
				c.settled[i] = true
				first.add(i)
			}
		}
	}
	c.waiting = first.tokens
}

// next takes the next part of the chain out of rest.
func (c *chaining) next() int {
	at, shortest := -1, -1
	for j, i := range c.rest {
		if len(c.settled) > 0 && !c.settled[i] && c.tokens+c.cost(i)+c.waiting > c.room {
			continue
		}
		if shortest < 0 || c.p.parts[i].tokens < c.p.parts[c.rest[shortest]].tokens {
			shortest = j
		}
		if c.p.parts[i].tokens <= max(c.tokens, short) {
			at = j
			break
		}
	}
	if at < 0 {
		at = shortest
	}
	i := c.rest[at]
	c.rest = slices.Delete(c.rest, at, at+1)
	if c.settled[i] {
		c.waiting -= c.p.parts[i].tokens
		delete(c.settled, i)
	}
	c.add(i)
	return i
}

// sum adds up the tokens of parts and of the lists that they are in.
type sum struct {
	p      *packer
	framed map[frame]bool
	tokens int
}

// cost is what part i adds.
func (s *sum) cost(i int) int {
	x := &s.p.parts[i]
	n := x.tokens
	for _, f := range x.frames() {
		if !s.framed[f] {
			n += s.p.costs.frame(f)
		}
	}
	return n
}

func (s *sum) add(i int) {
	s.tokens += s.cost(i)
	if s.framed == nil {
		s.framed = map[frame]bool{}
	}
	for _, f := range s.p.parts[i].frames() {
		s.framed[f] = true
	}
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
