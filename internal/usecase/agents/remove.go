package agents

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Remove removes the registration of an agent. Its tokens count no more, and what it has stays with this registration. What it holds and was offered goes to others
// when its clocks are over, as with any agent that does not answer.
func (a *Agents) Remove(ctx context.Context, c caller.Caller, name string) (Agent, error) {
	if err := c.May(identity.ManageAgents, "remove an agent"); err != nil {
		return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "remove", name, err)
	}
	return a.do(ctx, c, "remove", name, nil, agent.Remove{Name: name})
}
