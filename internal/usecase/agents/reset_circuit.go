package agents

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ResetCircuit closes an agent's circuit on an operator's word.
func (a *Agents) ResetCircuit(ctx context.Context, c caller.Caller, name string) (Agent, error) {
	if err := c.May(identity.ManageAgents, "reset a circuit"); err != nil {
		return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "reset-circuit", name, err)
	}
	return a.do(ctx, c, "reset-circuit", name, nil, agent.ResetCircuit{Name: name})
}
