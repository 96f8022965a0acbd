package roster

import (
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
)

// maxWalked is how many agents a search for circles looks at. What lies behind them is not seen; routing, which considers
// nobody twice, is bounded all the same.
const maxWalked = 256

// checkCircles refuses (invalid) fallbacks and escalation chains that lead back to the agent that has them. What is known
// of the others may be stale: two that are registered at once may still name each other.
func (r *Roster) checkCircles(ctx context.Context, workspace, self string, spec AgentSpec) error {
	for _, l := range []struct {
		what  string
		first []string
		next  func(registry.Spec) []string
	}{
		{"fallbacks", spec.Fallbacks, func(s registry.Spec) []string { return s.Fallbacks }},
		{"escalation chain", spec.Escalation, func(s registry.Spec) []string { return s.Escalation }},
	} {
		way, err := r.wayBack(ctx, workspace, self, l.first, l.next)
		if err != nil {
			return err
		}
		if way != nil {
			return refusal.New(refusal.Invalid, "take one of them out of that circle", "the %s of agent %s would lead back to it: %s", l.what, self,
				strings.Join(way, " → ")).With("circle", way)
		}
	}
	return nil
}

// wayBack is how one comes back to self along the names that each agent names, the shortest; nil if one does not.
func (r *Roster) wayBack(ctx context.Context, workspace, self string, first []string, next func(registry.Spec) []string) ([]string, error) {
	ways := [][]string{}
	for _, name := range first {
		if name != self { // which is refused with the agent itself
			ways = append(ways, []string{self, name})
		}
	}
	seen := map[string]bool{}
	for ; len(ways) > 0 && len(seen) < maxWalked; ways = ways[1:] {
		way := ways[0]
		name := way[len(way)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		known, err := r.Known(ctx, workspace, name, true)
		if err != nil {
			return nil, err
		}
		if !known.Exists() {
			continue
		}
		for _, n := range next(known.Spec) {
			if n == self {
				return append(slices.Clip(way), self), nil
			}
			ways = append(ways, append(slices.Clip(way), n))
		}
	}
	return nil, nil
}
