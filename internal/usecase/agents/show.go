package agents

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Show shows one agent.
func (a *Agents) Show(ctx context.Context, c caller.Caller, name string) (Agent, error) {
	agent, err := a.show(ctx, c, name)
	if err != nil {
		return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "show-agent", name, err)
	}
	return agent, nil
}

func (a *Agents) show(ctx context.Context, c caller.Caller, name string) (Agent, error) {
	if err := c.May(identity.ReadOwn, "show an agent"); err != nil {
		return Agent{}, err
	}
	if err := refusal.In("id", event.CheckAgent("the agent's name", name)); err != nil {
		return Agent{}, err
	}
	f, err := a.store.Load(ctx, StreamOf(c.Workspace, name), true)
	if err != nil {
		return Agent{}, err
	}
	if _, n := event.ParseAgent(name); !f.State.Exists() || n > 0 && n != max(f.State.Registration, 1) {
		return Agent{}, a.store.Unknown(ctx, c.Workspace, name)
	}
	x, err := a.describe(ctx, c, f.State, f.Head)
	if err != nil {
		return x, err
	}
	return a.warned(ctx, c, x)
}
