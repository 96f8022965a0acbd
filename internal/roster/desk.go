package roster

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/stream"
)

// Staffed refuses (unavailable) a desk that nobody serves. The operators' is always there.
func (r *Roster) Staffed(ctx context.Context, workspace, desk string) error {
	if desk == "" || desk == fact.DeskOperators {
		return nil
	}
	for again := true; ; again = false { // once more, since views must not refuse what they do not know yet
		had := r.views.Position()
		agents, err := r.views.Agents(ctx, workspace)
		if err != nil {
			return stream.Unavailable(err)
		}
		if slices.ContainsFunc(agents, func(s registry.State) bool { return serves(s, desk) }) {
			return nil
		}
		more, err := stream.CatchUp(ctx, r.ledger, had, r.views.Wait)
		if err != nil {
			return err
		}
		if !more || !again {
			break
		}
	}
	return refusal.New(refusal.Unavailable, "ask the operators, or have one add a person: trapeze agent add NAME --kind human --capability "+desk,
		"nobody serves the desk %s", desk)
}

// serves reports whether an agent is a person of a desk.
func serves(s registry.State, desk string) bool {
	return s.Exists() && s.Spec.Kind == registry.KindHuman && s.Spec.Has(desk)
}
