package followup

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// lookAgain is how soon agents that should be offline are looked at again, in case the change was refused or is not in the views yet.
const lookAgain = time.Second

// LapsePresence makes agents offline whose heartbeats have stopped. It returns when to call it again at the latest, if the agents do not
// change: when the next could lapse; zero: never.
func (u *FollowUp) LapsePresence(ctx context.Context, workspace string) (next time.Time, err error) {
	agents, err := u.views.Agents(ctx, workspace)
	if err != nil {
		return next, stream.Unavailable(err)
	}
	for _, s := range agents {
		ttl := s.Spec.PresenceTTL
		if ttl <= 0 || s.Readiness() == agent.Offline {
			continue
		}
		heard := u.presence.Last(workspace, s.Name)
		at := heard.Add(ttl)
		if !at.After(u.now()) {
			if s, err := u.spaces.State(ctx, workspace); err != nil || s.HoldsStill() { // nothing can be written there
				return time.Time{}, err
			}
			_, err := u.agents.Change(ctx, caller.System(workspace, "courier"), s.Name, "", agent.LapsePresence{Name: s.Name, LastHeard: heard})
			if err := caller.Tolerate(err); err != nil {
				return next, err
			}
			at = u.now().Add(lookAgain)
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next, nil
}
