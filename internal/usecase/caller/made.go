package caller

import (
	"slices"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// made is the positions of the entries that a call made.
type made struct {
	mu sync.Mutex
	at []ledger.Position
}

func (m *made) add(at ledger.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = append(m.at, at)
}

// Collecting is the caller of one call whose entries are collected: see [Caller.Made].
func (c Caller) Collecting() Caller {
	c.made = new(made)
	return c
}

// Made are the positions of the entries that the call has made so far, or that an earlier call with its key made, in their order. It is for callers that are
// [Caller.Collecting].
func (c Caller) Made() []ledger.Position {
	if c.made == nil {
		return nil
	}
	c.made.mu.Lock()
	defer c.made.mu.Unlock()
	list := slices.Clone(c.made.at)
	slices.Sort(list)
	return slices.Compact(list)
}
