package handoff

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// JoinClaim adds an agent that became ready to an open claim. An agent is asked once only, and no agent joins a handoff
// that was approved for others.
type JoinClaim struct {
	Agent   string
	Handoff int
}

func (c JoinClaim) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	h := t.InFlight()
	if h == nil || h.N != c.Handoff || !h.OpenClaim() || h.Kind == event.Supervised || c.Agent == "" || c.Agent == t.Owner ||
		len(h.Candidates) >= event.MaxCandidates ||
		slices.ContainsFunc(h.Candidates, func(o event.Candidate) bool { return o.Agent == c.Agent }) || t.Loop(c.Agent, false) != "" {
		return nil, nil
	}
	return []event.Event{event.ClaimJoined{Handoff: h.N, Agent: c.Agent}}, nil
}
