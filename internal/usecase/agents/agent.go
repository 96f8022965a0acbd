package agents

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Agent is an agent as the registry knows it, and how it does now.
type Agent struct {
	Name      string          `json:"name"`
	Spec      AgentSpec       `json:"spec"`
	Readiness agent.Readiness `json:"readiness"`
	OffDuty   bool            `json:"off_duty,omitempty"` // by an operator, and only an operator makes it ready again
	Circuit   Circuit         `json:"circuit"`
	Held      int             `json:"held"` // tasks that it owns now
	Seen      time.Time       `json:"seen,omitzero" doc:"When this server last heard of the agent itself. Absent: not since the server was started."`
	Position  ledger.Position `json:"position,omitempty"`
}

// At is up to where on record the answer is true.
func (a Agent) At() uint64 { return uint64(a.Position) }

// Circuit is how an agent's circuit breaker stands.
type Circuit struct {
	State    agent.Phase `json:"state"`
	Failures int         `json:"failures"`
	ResetAt  time.Time   `json:"reset_at,omitzero"`
}

// RegisterInput adds an agent, or replaces what is known about it.
type RegisterInput struct {
	Name string    `json:"name,omitempty"`
	Spec AgentSpec `json:"spec"`
}

// ownOrAgents lets an agent speak for itself, and those with the right for any.
func ownOrAgents(c caller.Caller, name, what string) error {
	if c.Agent() == name && name != "" {
		return c.May(identity.ActOwn, what)
	}
	return c.May(identity.ManageAgents, what)
}

// Register adds an agent to the registry, or replaces what is known about it.
func (r *Roster) Register(ctx context.Context, c caller.Caller, in RegisterInput) (Agent, error) {
	err := ownOrAgents(c, in.Name, "register an agent")
	if err == nil {
		err = event.CheckName("the agent's name", in.Name)
	}
	if err == nil && in.Name == routing.Auto {
		err = refusal.New(refusal.Invalid, "choose another name", "%q is what tasks are sent to where the policy is to decide", in.Name)
	}
	if err != nil {
		return Agent{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "register", in.Name, err)
	}
	if c.Agent() != "" {
		known, err := r.Known(ctx, c.Workspace, in.Name, true)
		if err == nil && !sameStanding(specOf(known.Spec), in.Spec) {
			err = refusal.New(refusal.NotPermitted, "have an operator register it, or leave those fields as they are",
				"agent %s may not change its own kind, capabilities, limits, breaker, hints, stand-ins or ways to be reached", in.Name)
		}
		if err != nil {
			return Agent{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "register", in.Name, err)
		}
	}
	if err := r.checkCircles(ctx, c.Workspace, in.Name, in.Spec); err != nil {
		return Agent{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "register", in.Name, err)
	}
	return r.agentDo(ctx, c, "register", in.Name, in, agent.Register{Name: in.Name, Spec: in.Spec.spec()})
}

// ReadinessInput says whether an agent takes new work.
type ReadinessInput struct {
	Name      string          `json:"name,omitempty"`
	Readiness agent.Readiness `json:"readiness"`
}

// SetReadiness says whether an agent takes new work. Whom an operator has made anything else than ready, only an operator
// makes ready again: the agent's own word is refused (conflict), though it counts as a sign of life.
func (r *Roster) SetReadiness(ctx context.Context, c caller.Caller, in ReadinessInput) (Agent, error) {
	if err := ownOrAgents(c, in.Name, "set an agent's readiness"); err != nil {
		return Agent{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "readiness", in.Name, err)
	}
	if c.Agent() == in.Name {
		r.presence.beat(c.Workspace, in.Name, r.now())
	}
	return r.agentDo(ctx, c, "readiness", in.Name, in, agent.SetReadiness{Name: in.Name, Readiness: in.Readiness, By: c.Principal})
}

// RemoveAgent takes an agent out of the registry. What it holds is not touched.
func (r *Roster) RemoveAgent(ctx context.Context, c caller.Caller, name string) (Agent, error) {
	if err := c.May(identity.ManageAgents, "remove an agent"); err != nil {
		return Agent{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "remove", name, err)
	}
	return r.agentDo(ctx, c, "remove", name, nil, agent.Remove{Name: name})
}

// ResetCircuit closes an agent's circuit on an operator's word.
func (r *Roster) ResetCircuit(ctx context.Context, c caller.Caller, name string) (Agent, error) {
	if err := c.May(identity.ManageAgents, "reset a circuit"); err != nil {
		return Agent{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "reset-circuit", name, err)
	}
	return r.agentDo(ctx, c, "reset-circuit", name, nil, agent.ResetCircuit{Name: name})
}

func (r *Roster) agentDo(ctx context.Context, c caller.Caller, verb, name string, in any, cmd agent.Command) (Agent, error) {
	request, err := c.Digest(verb, in)
	if err != nil {
		return Agent{}, err
	}
	out, err := r.ChangeAgent(ctx, c, name, request, cmd)
	if err != nil {
		return Agent{}, r.access.Refused(ctx, c.Workspace, c.Actor(), verb, name, err)
	}
	return r.describe(ctx, c.Workspace, *out.State, out.At)
}

// ChangeAgent makes one decision on an agent. request is the digest of the call, for its idempotency key.
func (r *Roster) ChangeAgent(ctx context.Context, c caller.Caller, name, request string, cmd agent.Command) (stream.Outcome[agent.State], error) {
	if err := event.CheckName("the agent's name", name); err != nil {
		return stream.Outcome[agent.State]{}, err
	}
	return r.agents.Do(ctx, c.Write(request), agentStream(c.Workspace, name), func(s agent.State, now time.Time) ([]agent.Event, error) {
		return agent.Decide(s, cmd, now)
	})
}

// Beat notes that an agent lives. Only its return after a lapse is on record.
func (r *Roster) Beat(ctx context.Context, c caller.Caller) error {
	name := c.Agent()
	if name == "" {
		return refusal.New(refusal.Invalid, "use an agent's token", "only agents have a presence")
	}
	if err := c.May(identity.ActOwn, "show that it lives"); err != nil {
		return r.access.Refused(ctx, c.Workspace, c.Actor(), "beat", name, err)
	}
	r.presence.beat(c.Workspace, name, r.now())
	f, err := r.agents.Load(ctx, agentStream(c.Workspace, name), false)
	if err != nil || !f.State.Lapsed {
		return err
	}
	_, err = r.ChangeAgent(ctx, c.WithKey(""), name, "", agent.ReturnPresence{Name: name})
	return err
}

// Agents lists the agents.
func (r *Roster) Agents(ctx context.Context, c caller.Caller) ([]Agent, error) {
	if err := c.May(identity.ReadOwn, "list agents"); err != nil {
		return nil, r.access.Refused(ctx, c.Workspace, c.Actor(), "list-agents", "", err)
	}
	states, err := r.views.Agents(ctx, c.Workspace)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	list := make([]Agent, 0, len(states))
	for _, s := range states {
		agent, err := r.describe(ctx, c.Workspace, s, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, agent)
	}
	return list, nil
}

// Agent shows one agent.
func (r *Roster) Agent(ctx context.Context, c caller.Caller, name string) (Agent, error) {
	agent, err := r.agent(ctx, c, name)
	if err != nil {
		return Agent{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "show-agent", name, err)
	}
	return agent, nil
}

func (r *Roster) agent(ctx context.Context, c caller.Caller, name string) (Agent, error) {
	if err := c.May(identity.ReadOwn, "show an agent"); err != nil {
		return Agent{}, err
	}
	if err := event.CheckName("the agent's name", name); err != nil {
		return Agent{}, err
	}
	f, err := r.agents.Load(ctx, agentStream(c.Workspace, name), true)
	if err != nil {
		return Agent{}, err
	}
	if !f.State.Exists() {
		return Agent{}, refusal.New(refusal.NotFound, "list the agents to see who there is", "there is no agent %.80q", name)
	}
	return r.describe(ctx, c.Workspace, f.State, f.Head)
}

func (r *Roster) describe(ctx context.Context, workspace string, s agent.State, at ledger.Position) (Agent, error) {
	held, err := r.views.Held(ctx, workspace, s.Name)
	if err != nil {
		return Agent{}, stream.Unavailable(err)
	}
	now := r.now()
	circuit := agent.CircuitAt(s, now)
	return Agent{
		Name: s.Name, Spec: specOf(s.Spec), Readiness: s.Readiness(), OffDuty: s.Off, Held: held, Position: at,
		Seen:    r.presence.seen(workspace, s.Name, now).Round(0).UTC(),
		Circuit: Circuit{State: circuit.Phase, Failures: s.Circuit.Failures, ResetAt: circuit.ResetAt},
	}, nil
}

// Known is what is on record about an agent; the zero state for one that never was. A fresh one has every entry that was
// acknowledged before the call.
func (r *Roster) Known(ctx context.Context, workspace, name string, fresh bool) (agent.State, error) {
	if event.CheckName("the agent's name", name) != nil {
		return agent.State{}, nil //nolint:nilerr // what cannot be a name was never registered
	}
	f, err := r.agents.Load(ctx, agentStream(workspace, name), fresh)
	return f.State, err
}

// Room is how many more tasks an agent may take; most where it has no limit.
func (r *Roster) Room(ctx context.Context, workspace, name string, most int) (int, error) {
	state, err := r.Known(ctx, workspace, name, false)
	if err != nil || state.Spec.MaxTasks == 0 {
		return most, err
	}
	held, err := r.views.Held(ctx, workspace, name)
	if err != nil {
		return 0, stream.Unavailable(err)
	}
	return max(state.Spec.MaxTasks-held, 0), nil
}

// Refused records an attempt that was refused before any use case had it, and returns err.
func (r *Roster) Refused(ctx context.Context, c caller.Caller, verb, subject string, err error) error {
	return r.access.Refused(ctx, c.Workspace, c.Actor(), verb, subject, err)
}
