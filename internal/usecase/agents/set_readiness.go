package agents

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ReadinessInput says whether an agent takes new work.
type ReadinessInput struct {
	Name      string          `json:"name,omitempty"`
	Readiness agent.Readiness `json:"readiness"`
}

// SetReadiness says whether an agent takes new work. Once an operator has made it anything but ready, only an operator
// makes ready again: the agent's own word is refused (conflict), though it counts as a sign of life.
func (a *Agents) SetReadiness(ctx context.Context, c caller.Caller, in ReadinessInput) (Agent, error) {
	if err := ownOrAgents(c, in.Name, "set an agent's readiness"); err != nil {
		return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "readiness", in.Name, err)
	}
	if own(c, in.Name) {
		a.presence.Beat(c.Workspace, c.Agent())
	}
	return a.do(ctx, c, "readiness", in.Name, in, agent.SetReadiness{Name: in.Name, Readiness: in.Readiness, By: c.Principal})
}
