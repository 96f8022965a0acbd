package app

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/roster"
)

// spawning decides a fan-out or a delegation. What a child's first offer will need of a half-open circuit is claimed for
// it here, so that its sender is told at once who cannot take it.
func (a *App) spawning(ctx context.Context, c Caller, in SendInput, t custody.Task, p roster.Plan, sealed fact.Sealed, now time.Time) ([]fact.Event, error) {
	cmd := in.spawn(c, t, p, sealed)
	admitted := map[string]bool{}
	for {
		events, err := handoff.Decide(t, cmd, now)
		if err != nil { // only what is allowed takes a probe
			return nil, err
		}
		child, no, err := a.Barred(ctx, c.Workspace, events, admitted)
		if err != nil || no == nil {
			return events, err
		}
		gone := func(agent string) bool { return agent == child.To }
		p.Passed = append(p.Passed, fact.Passed{Agent: child.To, Why: no.Message})
		p.Candidates = slices.DeleteFunc(slices.Clone(p.Candidates), func(k fact.Candidate) bool { return gone(k.Agent) })
		if len(targets(p.Candidates)) == 0 {
			return nil, no
		}
		rest := slices.DeleteFunc(slices.Clone(cmd.Children), func(k fact.NewChild) bool { return gone(k.To) })
		cmd = in.spawn(c, t, p, sealed)
		if len(rest) > 0 { // their probes are claimed under their ids
			cmd.Children = rest
		}
	}
}
