package agents

import (
	"context"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
)

// Agents is the use cases of agents. Its methods are safe for many goroutines.
type Agents struct {
	store    *Store
	views    view.Store
	access   *access.Log
	presence *presence.Presence
	now      func() time.Time
}

// New returns the use cases of the agents of a store.
func New(s *Store, v view.Store, log *access.Log, p *presence.Presence, now func() time.Time) *Agents {
	return &Agents{store: s, views: v, access: log, presence: p, now: now}
}

// Agent is an agent as it is registered, with its state now.
type Agent struct {
	Name           string          `json:"name" doc:"NAME~2 is the agent that was registered under NAME after the first one was removed: another agent, which inherits nothing. NAME alone means it, too."`
	Spec           AgentSpec       `json:"spec"`
	Readiness      agent.Readiness `json:"readiness"`
	OffDuty        bool            `json:"off_duty,omitempty"` // by an operator, and only an operator makes it ready again
	Circuit        Circuit         `json:"circuit" doc:"The circuit breaker for the handoffs of all senders. It opens by failures of handoffs of at least two senders, or of delivery."`
	SenderCircuits []SenderCircuit `json:"pairs,omitempty" doc:"Circuit breakers that are open for the handoffs of one sender alone, because its handoffs failed. An agent sees its own, and those of others only on itself."`
	Held           int             `json:"held"` // tasks that it owns now
	Seen           time.Time       `json:"seen,omitzero" doc:"When a server of the record last heard of the agent itself. Absent: not since the server was started."`
	Warnings       []string        `json:"warnings,omitempty" doc:"What of the specification does not do now what its author may expect, in words: a tokenizer that is not built in, or a fallback or an escalation target that is not registered; of an agent that was removed, what it leaves. Not in lists."`
	Position       ledger.Position `json:"position,omitempty"`
}

// At returns the position up to which the answer is true.
func (a Agent) At() ledger.Position { return a.Position }

// Circuit is how an agent's circuit breaker stands.
type Circuit struct {
	State    agent.Phase `json:"state"`
	Failures int         `json:"failures"`
	ResetAt  time.Time   `json:"reset_at,omitzero"`
}

// SenderCircuit is the circuit between one sender and the agent.
type SenderCircuit struct {
	Sender string `json:"sender"` // an agent, or the principal of somebody else
	Circuit
}

// own reports whether an agent names itself: an agent that calls is the one that has its name now.
func own(c caller.Caller, name string) bool {
	return c.Agent() != "" && (name == c.Agent() || name == event.AgentName(c.Agent()))
}

// ownOrAgents lets an agent speak for itself, and those with the right for any.
func ownOrAgents(c caller.Caller, name, what string) error {
	if own(c, name) {
		return c.May(identity.ActOwn, what)
	}
	return c.May(identity.ManageAgents, what)
}

func (a *Agents) do(ctx context.Context, c caller.Caller, verb, name string, in any, cmd agent.Command) (Agent, error) {
	request, err := c.Digest(verb, in)
	if err != nil {
		return Agent{}, err
	}
	out, err := a.store.Change(ctx, c, name, request, cmd)
	if err != nil {
		return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), verb, name, err)
	}
	x, err := a.describe(ctx, c, *out.State, out.At)
	if err != nil {
		return x, err
	}
	return a.warned(ctx, c, x)
}

func (a *Agents) describe(ctx context.Context, c caller.Caller, s agent.State, at ledger.Position) (Agent, error) {
	held, err := a.views.Held(ctx, c.Workspace, s.Name)
	if err != nil {
		return Agent{}, stream.Unavailable(err)
	}
	now := a.now()
	circuit := agent.CircuitAt(s, now)
	return Agent{
		Name: s.Name, Spec: specOf(s.Spec), Readiness: s.Readiness(), OffDuty: s.Off, Held: held, Position: at,
		Seen:           a.presence.Seen(c.Workspace, s.Name).Round(0).UTC(),
		Circuit:        Circuit{State: s.Circuit.PhaseAt(now), Failures: s.Circuit.Failures, ResetAt: circuit.ResetAt},
		SenderCircuits: senderCircuitsOf(c, s, now),
	}, nil
}

// senderCircuitsOf lists the circuits that are not closed for one sender, of those that the caller may see: agents see their own.
func senderCircuitsOf(c caller.Caller, s agent.State, now time.Time) (list []SenderCircuit) {
	for _, p := range s.SenderCircuits {
		r := p.At(now)
		if r.Phase = p.Circuit.PhaseAt(now); r.Phase == agent.Closed || c.Agent() != "" && c.Agent() != s.Name && p.Sender != c.String() {
			continue
		}
		list = append(list, SenderCircuit{Sender: strings.TrimPrefix(p.Sender, "agent/"), Circuit: Circuit{State: r.Phase, Failures: p.Circuit.Failures, ResetAt: r.ResetAt}})
	}
	return list
}
