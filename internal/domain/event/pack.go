package event

import (
	"fmt"
	"math"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Strategy is how an envelope is packed into a budget of tokens.
type Strategy string

// The strategies.
const (
	StrategyFull        Strategy = "full"         // everything, or a refusal
	StrategySummaryRefs Strategy = "summary_refs" // the state of the work, facts and decisions; the rest can be fetched
	StrategyPriority    Strategy = "priority"     // pinned parts, then those that are worth most per token
	StrategyLazy        Strategy = "lazy"         // the state of the work, and references; the rest can be fetched
)

// Strategies lists every strategy.
var Strategies = NewSet("a strategy", StrategyFull, StrategySummaryRefs, StrategyPriority, StrategyLazy)

func (s *Strategy) UnmarshalText(b []byte) error { return Strategies.Decode(s, b) }

// The limits of a pack.
const (
	MaxPackTokens = 10_000_000
	MaxPinned     = 64  // pins
	MaxPin        = 200 // bytes
)

// Pack says how an envelope is packed for its receivers.
type Pack struct {
	Tokens   int      `json:"tokens,omitempty"`   // the most that the packed envelope may take; 0: as the receiver allows
	Strategy Strategy `json:"strategy,omitempty"` // empty: StrategyPriority
	Pinned   []string `json:"pinned,omitempty"`   // parts that are kept before all others
}

// Check refuses a number of tokens that is out of range, an unknown strategy, and pins that are too many, too long or empty.
func (p Pack) Check() error {
	if err := checkCount("pinned parts", len(p.Pinned), MaxPinned, "pin those that matter most"); err != nil {
		return refusal.In("pinned", err)
	}
	switch {
	case p.Tokens < 0 || p.Tokens > MaxPackTokens:
		return refusal.New(refusal.Invalid, fmt.Sprintf("use 1 to %d tokens, or omit it", MaxPackTokens), "a budget of %d tokens is out of range", p.Tokens).With("field", "tokens")
	case p.Strategy != "" && !Strategies.Has(p.Strategy):
		return refusal.New(refusal.Invalid, "use "+OneOf(Strategies.Values())+", or omit it", "%.40q is not a strategy of packing", p.Strategy).With("field", "strategy")
	}
	for _, pin := range p.Pinned {
		if pin == "" {
			return refusal.New(refusal.Invalid, "name a part of the envelope", "a pin is empty").With("field", "pinned")
		}
		if err := CheckText("a pin", pin, MaxPin); err != nil {
			return refusal.In("pinned", err)
		}
	}
	return nil
}

// Weight is about how many bytes the pins take in memory.
func (p Pack) Weight() (n int) {
	for _, pin := range p.Pinned {
		n += 16 + len(pin)
	}
	return n
}

// Check refuses (invalid) a packed envelope without bytes, digest or source, and figures that are out of range.
func (e Rendered) Check() error {
	sum := e.Utilisation + e.Completeness
	whole := e.Digest == e.Source && len(e.Bytes) == 0 && e.Parent == "" && e.Omitted == 0
	switch {
	case e.Digest == "" || !whole && (e.Digest == e.Source || len(e.Bytes) == 0 || e.Parent != e.Source):
		return refusal.New(refusal.Invalid, "seal what was packed, with its source as parent", "a rendition needs bytes, a digest and a source, or is its source")
	case math.IsNaN(sum) || math.IsInf(sum, 0) || e.Utilisation < 0 || e.Completeness < 0 || e.Tokens < 0 || e.Budget < 0 || e.Omitted < 0 || e.OverBudget < 0 || e.OverBudget > e.Omitted:
		return refusal.New(refusal.Invalid, "use figures from 0 up", "the figures of rendition %.80s are out of range", e.Digest)
	}
	return nil
}
