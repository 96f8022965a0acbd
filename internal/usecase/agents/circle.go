package agents

import (
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// maxWalked is how many agents a search for circles looks at. What lies behind them is not seen; routing, which considers
// nobody twice, is bounded all the same.
const maxWalked = 256

// checkCircles refuses (invalid) an escalation chain that leads back to the agent that has it: it would have no end. Fallbacks may
// stand in for each other, since nobody is asked twice for one handoff. What is known of the others may be stale: two that are
// registered at once may still name each other.
func (a *Agents) checkCircles(ctx context.Context, workspace, self string, spec AgentSpec) error {
	way, err := a.wayBack(ctx, workspace, self, spec.Escalation)
	if err != nil || way == nil {
		return err
	}
	return refusal.New(refusal.Invalid, "take one of them out of that circle", "the escalation chain of agent %s would lead back to it: %s", self,
		strings.Join(way, " → ")).With("circle", way)
}

// wayBack is how one comes back to self along the escalation chains, the shortest; nil if one does not.
func (a *Agents) wayBack(ctx context.Context, workspace, self string, first []string) ([]string, error) {
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
		known, err := a.store.Find(ctx, workspace, name, true)
		if err != nil {
			return nil, err
		}
		if !known.Exists() {
			continue
		}
		for _, n := range known.Spec.Escalation {
			if n == self {
				return append(slices.Clip(way), self), nil
			}
			ways = append(ways, append(slices.Clip(way), n))
		}
	}
	return nil, nil
}
