package packing

import (
	"math"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Options are the target of packing. The zero value packs by priority, without a limit.
type Options struct {
	// Budget is the greatest number of tokens of the rendered prompt; 0 means no limit.
	Budget int
	// Counter counts as the tokenizer of the receiver does; the zero value is the default tokenizer.
	Counter tokenizer.Counter
	// Strategy is the strategy; empty means priority.
	Strategy event.Strategy
	// Pinned are parts to keep before others, besides those that the document itself pins. A reference to a part that the
	// document does not have is ignored.
	Pinned []Ref
	// Sealed says that the document has just been sealed, as it is: it is not checked again.
	Sealed bool
}

// Ref identifies one part of an envelope.
type Ref struct {
	Kind envelope.PartKind
	// ID is the id of a fact, decision or memory item, the digest of an artifact, or the position of a step in the history
	// from 1. It is empty for single texts and the conversation.
	ID string
}

// weight is the importance and the recency of a part, both from 0 to 1.
type weight struct {
	Importance, Recency float64
}

// Packed is an envelope that is ready to be sealed for its receiver.
type Packed struct {
	Envelope envelope.Envelope
	// Text is the prompt of the receiver, and Tokens its number of tokens.
	Text   string
	Tokens int
}

// Pack fits doc to the budget of a receiver. The result lists the omissions and says how it was packed; doc itself is not
// changed. Only doc holds the omitted facts, decisions, history and data, so keep it where the receiver can fetch it.
// References to memory and artifacts that could not be resolved are the gaps of doc.
//
// Errors are a [refusal.Error]: budget, with the tokens needed as the detail "needed", if the parts that are never cut
// (or, with full, all of them) are over the budget; invalid or too_large if doc is not a valid envelope; invalid if it
// is already packed.
func Pack(doc envelope.Envelope, o Options) (Packed, error) {
	if err := check(&doc, &o); err != nil {
		return Packed{}, err
	}
	doc = doc.Current()
	all := newPacker(&doc, o)
	all.collect()
	if packed, ok := all.whole(); ok {
		return packed, nil
	}
	rest := doc // is moved to the heap, and doc is not
	p := newPacker(&rest, o)
	p.all = all.all
	p.collect()
	p.measure()
	if p.options.Strategy != event.StrategyFull && !p.choose() {
		return Packed{}, p.refusal()
	}
	for _, listing := range envelope.Listings.Values() {
		if packed, ok := p.attempt(listing); ok {
			return packed, nil
		}
	}
	return Packed{}, p.refusal()
}

func check(doc *envelope.Envelope, o *Options) error {
	if o.Strategy == "" {
		o.Strategy = event.StrategyPriority
	}
	if err := new(event.Strategy).UnmarshalText([]byte(o.Strategy)); err != nil {
		return err
	}
	if o.Budget < 0 || o.Budget > math.MaxInt32 {
		return refusal.New(refusal.Invalid, "give a number of tokens, or 0 for no limit", "%d is not a token budget", o.Budget).With("field", "budget")
	}
	if !doc.Packing.IsZero() || len(doc.Omissions) > 0 {
		return refusal.New(refusal.Invalid, "pack the envelope that it was made from", "the envelope is already packed").With("field", "packing")
	}
	if o.Sealed {
		return nil
	}
	given := *doc // is moved to the heap, and doc is not
	return given.Validate()
}

// whole packs everything, if nothing is excluded and it fits: then no part needs to be measured alone.
func (p *packer) whole() (Packed, bool) {
	if len(p.doc.Gaps) > 0 || slices.ContainsFunc(p.parts, func(x part) bool { return x.excluded }) {
		return Packed{}, false
	}
	for i := range p.parts {
		p.parts[i].in = true
	}
	packed := p.build(envelope.ListEach)
	p.all = packed.Tokens
	return packed, packed.Tokens <= p.budget
}

// packer is the state of one call of Pack.
type packer struct {
	doc     *envelope.Envelope
	options Options
	budget  int // never 0
	costs   costs
	parts   []part
	// order is the indices of the parts that may be taken, in the end as a chain: in the order in which they are taken.
	order []int
	// sum is the costs of the beginnings of the chain.
	sum []spent
	// all is the tokens of the prompt with every part.
	all int
}

func newPacker(doc *envelope.Envelope, o Options) packer {
	p := packer{doc: doc, options: o, budget: o.Budget, all: math.MaxInt, costs: newCosts(o.Counter, doc.Handoff)}
	if p.budget == 0 {
		p.budget = math.MaxInt
	}
	return p
}

// attempt packs what is taken with one form of the list of omissions.
func (p *packer) attempt(listing envelope.Listing) (Packed, bool) {
	if listing != envelope.ListTotal && p.list(listing) > p.budget/p.listingPart() {
		return Packed{}, false
	}
	packed := p.build(listing)
	return packed, packed.Tokens <= p.budget
}

// compose makes the envelope of the parts that are taken, without the account of how it was packed.
func (p *packer) compose(listing envelope.Listing) envelope.Envelope {
	out := bare(*p.doc)
	out.KeyFacts = make([]envelope.Item, 0, len(p.doc.KeyFacts))
	first := 0
	for i := range p.parts {
		part := &p.parts[i]
		if part.in {
			part.put(&out, p.doc)
			continue
		}
		part.refer(&out, p.doc)
		out.Omissions = append(out.Omissions, part.omission())
		if (part.pinned || part.important()) && (part.ruled || part.wasBy != "") { // where not all are named, these are
			out.Omissions = slices.Insert(out.Omissions, first, out.Omissions[len(out.Omissions)-1])[:len(out.Omissions)]
			first++
		}
	}
	out.Omissions = aggregate(out.Omissions)
	out.Packing.Listing = listing
	return out
}

// build makes the envelope of the parts that are taken, and its prompt.
func (p *packer) build(listing envelope.Listing) Packed {
	out := p.compose(listing)
	text := envelope.Render(out)
	n := p.costs.counter.Count(text)
	out.Packing = envelope.Packing{
		Strategy: p.options.Strategy, Budget: p.options.Budget, Tokens: n,
		Tokenizer: p.costs.counter.Name(), Estimate: p.costs.counter.AtMost(text),
		Completeness: p.completeness(), Listing: listing,
	}
	if p.options.Budget > 0 {
		out.Packing.Utilisation = min(1, float64(n)/float64(p.options.Budget))
	}
	return Packed{Envelope: out, Text: text, Tokens: n}
}

// completeness is the share of requested references that were resolved. What was replaced was not requested.
func (p *packer) completeness() float64 {
	requested := len(p.doc.Memory) + len(p.doc.Artifacts)
	resolved := requested
	for _, g := range p.doc.Gaps {
		if g.Reason != envelope.GapReplaced {
			requested++
		}
	}
	if requested > 0 {
		return float64(resolved) / float64(requested)
	}
	return 1
}

// refusal returns the refusal with the smallest budget that is not refused.
func (p *packer) refusal() error {
	what, hint := "the parts that must survive", "[raise the budget](.pack.tokens), or shorten the intent, the ask, the constraints or the open questions"
	if p.options.Strategy == event.StrategyFull {
		what, hint = "the whole envelope", "[raise the budget](.pack.tokens), or pack it by priority"
	} else {
		for i := range p.parts {
			p.parts[i].in = false
		}
	}
	needed := p.build(envelope.ListTotal).Tokens
	if p.options.Strategy == event.StrategyFull {
		for _, listing := range envelope.Listings.Values() { // the list of few omissions can be shorter in its longer forms
			needed = min(needed, max(p.build(listing).Tokens, p.list(listing)*p.listingPart()))
		}
	} else {
		needed = min(p.least(needed), p.all)
	}
	return refusal.New(refusal.Budget, hint, "%s take %d tokens, the budget is %d", what, needed, p.options.Budget).
		With("needed", needed).With("budget", p.options.Budget)
}
