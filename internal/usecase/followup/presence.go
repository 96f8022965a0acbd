package followup

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// LapsePresence makes agents offline whose heartbeats have stopped. It returns when the next could lapse.
func (u *FollowUp) LapsePresence(ctx context.Context, workspace string) (next time.Time, err error) {
	agents, err := u.views.Agents(ctx, workspace)
	if err != nil {
		return next, stream.Unavailable(err)
	}
	for _, s := range agents {
		ttl := s.Spec.PresenceTTL
		if ttl <= 0 || s.Lapsed {
			continue
		}
		heard := u.presence.Last(workspace, s.Name)
		if at := heard.Add(ttl); at.After(u.now()) {
			if next.IsZero() || at.Before(next) {
				next = at
			}
			continue
		}
		_, err := u.agents.Change(ctx, caller.System(workspace, "courier"), s.Name, "", agent.LapsePresence{Name: s.Name, LastHeard: heard})
		if err := caller.Tolerate(err); err != nil {
			return next, err
		}
	}
	return next, nil
}
