package event

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Budget is what a task may spend, or has spent, as its agents report it. As a limit, zero means none.
type Budget struct {
	Tokens int64 `json:"tokens,omitzero"`
	Cost   int64 `json:"cost_micros,omitzero"` // millionths of the currency that the deployment counts in
}

// Check refuses (invalid) amounts that are negative or more than 2^50.
func (b Budget) Check(what string) error {
	const most = 1 << 50
	wrong := func() *refusal.Error {
		return refusal.New(refusal.Invalid, "use amounts from 0 up", "%s is out of range", what)
	}
	switch {
	case b.Tokens < 0 || b.Tokens > most:
		return wrong().With("field", "tokens")
	case b.Cost < 0 || b.Cost > most:
		return wrong().With("field", "cost_micros")
	}
	return nil
}

// mostBudget caps sums, so that no report can make one overflow.
const mostBudget = 1 << 60

// Plus adds amounts, none of which may be negative.
func (b Budget) Plus(o Budget) Budget {
	return Budget{min(b.Tokens+o.Tokens, mostBudget), min(b.Cost+o.Cost, mostBudget)}
}

// Minus subtracts; the result may be below zero.
func (b Budget) Minus(o Budget) Budget { return Budget{b.Tokens - o.Tokens, b.Cost - o.Cost} }

// Split divides what is left of b: a part that asks for an amount gets it, the others get equal shares of the rest, and none
// gets zero, which would mean no limit. It reports whether there is enough. Amounts that b does not limit stay as asked for.
func (b Budget) Split(left Budget, asked []Budget) ([]Budget, bool) {
	parts := slices.Clone(asked)
	ok := split(parts, b.Tokens, left.Tokens, func(p *Budget) *int64 { return &p.Tokens }) &&
		split(parts, b.Cost, left.Cost, func(p *Budget) *int64 { return &p.Cost })
	return parts, ok
}

func split(parts []Budget, limit, left int64, amount func(*Budget) *int64) bool {
	if limit == 0 {
		return true
	}
	var unnamed int64
	for i := range parts {
		if n := *amount(&parts[i]); n > 0 {
			left -= n
		} else {
			unnamed++
		}
	}
	if left < unnamed {
		return false
	}
	for i := range parts {
		if n := amount(&parts[i]); *n == 0 {
			*n = left / unnamed
		}
	}
	return true
}
