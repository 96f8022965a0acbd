package agents

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// List lists the agents.
func (a *Agents) List(ctx context.Context, c caller.Caller) ([]Agent, error) {
	if err := c.May(identity.ReadOwn, "list agents"); err != nil {
		return nil, a.access.Refused(ctx, c.Workspace, c.Actor(), "list-agents", "", err)
	}
	states, err := a.views.Agents(ctx, c.Workspace)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	list := make([]Agent, 0, len(states))
	for _, s := range states {
		agent, err := a.describe(ctx, c, s, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, agent)
	}
	return list, nil
}
