package app

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/stream"
)

// Agent is an agent as the registry knows it, and how it does now.
type Agent struct {
	Name      string             `json:"name"`
	Spec      AgentSpec          `json:"spec"`
	Readiness registry.Readiness `json:"readiness"`
	Circuit   Circuit            `json:"circuit"`
	Held      int                `json:"held"` // tasks that it owns now
	Position  ledger.Position    `json:"position,omitempty"`
}

// Circuit is how an agent's circuit breaker stands.
type Circuit struct {
	State    registry.Phase `json:"state"`
	Failures int            `json:"failures"`
	ResetAt  time.Time      `json:"reset_at,omitzero"`
}

// RegisterInput adds an agent, or replaces what is known about it.
type RegisterInput struct {
	Name string    `json:"name,omitempty"`
	Spec AgentSpec `json:"spec"`
}

// ownOrAgents lets an agent speak for itself, and those with the right for any.
func ownOrAgents(c Caller, name, what string) error {
	if c.Agent() == name && name != "" {
		return c.may(identity.ActOwn, what)
	}
	return c.may(identity.Agents, what)
}

// Register adds an agent to the registry, or replaces what is known about it.
func (a *App) Register(ctx context.Context, c Caller, in RegisterInput) (Agent, error) {
	err := ownOrAgents(c, in.Name, "register an agent")
	if err == nil {
		err = registry.CheckName("an agent", in.Name)
	}
	if err != nil {
		return Agent{}, a.access.Refused(ctx, c.who(), "register", in.Name, err)
	}
	return a.agentDo(ctx, c, "register", in.Name, in, registry.Register{Name: in.Name, Spec: in.Spec.spec()})
}

// ReadinessInput says whether an agent takes new work.
type ReadinessInput struct {
	Name      string             `json:"name,omitempty"`
	Readiness registry.Readiness `json:"readiness" enum:"ready,busy,draining,offline"`
}

// SetReadiness says whether an agent takes new work.
func (a *App) SetReadiness(ctx context.Context, c Caller, in ReadinessInput) (Agent, error) {
	if err := ownOrAgents(c, in.Name, "set an agent's readiness"); err != nil {
		return Agent{}, a.access.Refused(ctx, c.who(), "readiness", in.Name, err)
	}
	by := registry.ByOperator
	if c.Agent() == in.Name {
		by = registry.ByAgent
		a.presence.beat(c.Workspace, in.Name, a.now())
	}
	return a.agentDo(ctx, c, "readiness", in.Name, in, registry.SetReadiness{Name: in.Name, Readiness: in.Readiness, By: by})
}

// RemoveAgent takes an agent out of the registry. What it holds is not touched.
func (a *App) RemoveAgent(ctx context.Context, c Caller, name string) (Agent, error) {
	if err := c.may(identity.Agents, "remove an agent"); err != nil {
		return Agent{}, a.access.Refused(ctx, c.who(), "remove", name, err)
	}
	return a.agentDo(ctx, c, "remove", name, nil, registry.Remove{Name: name})
}

// ResetCircuit closes an agent's circuit on an operator's word.
func (a *App) ResetCircuit(ctx context.Context, c Caller, name string) (Agent, error) {
	if err := c.may(identity.Agents, "reset a circuit"); err != nil {
		return Agent{}, a.access.Refused(ctx, c.who(), "reset-circuit", name, err)
	}
	return a.agentDo(ctx, c, "reset-circuit", name, nil, registry.ResetCircuit{Name: name})
}

func (a *App) agentDo(ctx context.Context, c Caller, verb, name string, in any, cmd registry.Command) (Agent, error) {
	request, err := digestRequest(c, verb, in)
	if err != nil {
		return Agent{}, err
	}
	out, err := a.changeAgent(ctx, c, name, request, cmd)
	if err != nil {
		return Agent{}, a.access.Refused(ctx, c.who(), verb, name, err)
	}
	return a.describe(ctx, c.Workspace, out.State, out.At)
}

func (a *App) changeAgent(ctx context.Context, c Caller, name, request string, cmd registry.Command) (stream.Outcome[registry.State], error) {
	if err := registry.CheckName("an agent", name); err != nil {
		return stream.Outcome[registry.State]{}, err
	}
	return a.agents.Do(ctx, c.write(request), agentStream(c.Workspace, name), func(s registry.State, now time.Time) ([]registry.Event, error) {
		return registry.Decide(s, cmd, now)
	})
}

// Beat notes that an agent lives. Only its return after a lapse is on record.
func (a *App) Beat(ctx context.Context, c Caller) error {
	name := c.Agent()
	if name == "" {
		return refusal.New(refusal.Invalid, "use an agent's token", "only agents have a presence")
	}
	a.presence.beat(c.Workspace, name, a.now())
	f, err := a.agents.Load(ctx, agentStream(c.Workspace, name), false)
	if err != nil || !f.State.Lapsed {
		return err
	}
	_, err = a.changeAgent(ctx, c.WithKey(""), name, "", registry.ReturnPresence{Name: name})
	return err
}

// Agents lists the agents.
func (a *App) Agents(ctx context.Context, c Caller) ([]Agent, error) {
	if err := c.may(identity.ReadOwn, "list agents"); err != nil {
		return nil, err
	}
	states, err := a.views.Agents(ctx, c.Workspace)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	list := make([]Agent, 0, len(states))
	for _, s := range states {
		agent, err := a.describe(ctx, c.Workspace, s, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, agent)
	}
	return list, nil
}

// Agent shows one agent.
func (a *App) Agent(ctx context.Context, c Caller, name string) (Agent, error) {
	if err := c.may(identity.ReadOwn, "show an agent"); err != nil {
		return Agent{}, err
	}
	if err := registry.CheckName("an agent", name); err != nil {
		return Agent{}, err
	}
	f, err := a.agents.Load(ctx, agentStream(c.Workspace, name), true)
	if err != nil {
		return Agent{}, err
	}
	if !f.State.Exists() {
		return Agent{}, refusal.New(refusal.NotFound, "list the agents to see who there is", "there is no agent %.80q", name)
	}
	return a.describe(ctx, c.Workspace, f.State, f.Head)
}

func (a *App) describe(ctx context.Context, workspace string, s registry.State, at ledger.Position) (Agent, error) {
	held, err := a.views.Held(ctx, workspace, s.Name)
	if err != nil {
		return Agent{}, stream.Unavailable(err)
	}
	now := registry.CircuitAt(s, a.now())
	return Agent{
		Name: s.Name, Spec: specOf(s.Spec), Readiness: s.Readiness(), Held: held, Position: at,
		Circuit: Circuit{State: now.Phase, Failures: s.Circuit.Failures, ResetAt: now.ResetAt},
	}, nil
}
