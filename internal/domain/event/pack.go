package event

import (
	"fmt"
	"math"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Bounds of how an envelope is to be packed.
const (
	MaxPackTokens = 10_000_000
	MaxPinned     = 64
	MaxPin        = 200 // bytes
)

// packStrategies are the strategies of package envelope, and none.
var packStrategies = []string{"", "full", "summary_refs", "priority", "lazy"}

// Pack is how the sender wants an envelope to be packed for its receivers.
type Pack struct {
	Tokens   int      `json:"tokens,omitempty"` // the most that a rendition may take; 0: up to the receiver
	Strategy string   `json:"strategy,omitempty"`
	Pinned   []string `json:"pinned,omitempty"` // parts that come before all others
}

// Check refuses a budget or strategy that does not exist, and pins that are too many, too long or empty.
func (p Pack) Check() error {
	switch {
	case p.Tokens < 0 || p.Tokens > MaxPackTokens:
		return refusal.New(refusal.Invalid, fmt.Sprintf("use 1 to %d tokens, or leave it to the receiver", MaxPackTokens), "a budget of %d tokens is out of range", p.Tokens)
	case !slices.Contains(packStrategies, p.Strategy):
		return refusal.New(refusal.Invalid, "use full, summary_refs, priority or lazy, or leave it out", "%.40q is not a strategy of packing", p.Strategy)
	case len(p.Pinned) > MaxPinned:
		return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d; say what matters most", MaxPinned), "%d pinned parts are too many", len(p.Pinned))
	}
	for _, pin := range p.Pinned {
		if pin == "" {
			return refusal.New(refusal.Invalid, "name a part of the envelope", "a pin is empty")
		}
		if err := CheckText("a pin", pin, MaxPin); err != nil {
			return err
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

// Check refuses a rendition that is none, or whose figures make no sense.
func (e Rendered) Check() error {
	sum := e.Utilisation + e.Completeness
	whole := e.Digest == e.Source && len(e.Bytes) == 0 && e.Parent == "" && e.Omitted == 0
	switch {
	case e.Digest == "" || !whole && (e.Digest == e.Source || len(e.Bytes) == 0 || e.Parent != e.Source):
		return refusal.New(refusal.Invalid, "seal what was packed, with its source as parent", "a rendition needs bytes, a digest and a source, or is its source")
	case math.IsNaN(sum) || math.IsInf(sum, 0) || e.Utilisation < 0 || e.Completeness < 0 || e.Tokens < 0 || e.Budget < 0 || e.Omitted < 0:
		return refusal.New(refusal.Invalid, "use figures from 0 up", "the figures of rendition %.80s are out of range", e.Digest)
	}
	return nil
}
