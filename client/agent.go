package client

import (
	"context"
	"net/http"
	"time"
)

// Readiness is whether an agent takes new work.
type Readiness string

// The kinds of readiness. Only a ready agent is offered work.
const (
	Ready    Readiness = "ready"
	Busy     Readiness = "busy"
	Draining Readiness = "draining" // it finishes what it holds and takes nothing more
	Offline  Readiness = "offline"
)

// Readinesses lists every kind of readiness.
func Readinesses() []Readiness { return []Readiness{Ready, Busy, Draining, Offline} }

// Reach is one way to tell an agent that something waits for it.
type Reach struct {
	Kind string `json:"kind"` // pull; offers are not delivered in another way yet
	URL  string `json:"url,omitempty"`
}

// Breaker configures an agent's circuit breaker. Zero fields mean the defaults.
type Breaker struct {
	Failures int      `json:"failures,omitempty"` // consecutive failures that open it; 3
	OpenFor  Duration `json:"open_for,omitzero"`  // before one probe; 60s
}

// AgentSpec describes an agent. Its zero value can be used.
type AgentSpec struct {
	Kind          string   `json:"kind,omitempty"` // agent or human
	Description   string   `json:"description,omitempty"`
	Capabilities  []string `json:"capabilities,omitempty"`
	MaxTasks      int      `json:"max_tasks,omitempty"` // concurrent; 0: not limited
	ContextWindow int      `json:"context_window,omitempty"`
	Tokenizer     string   `json:"tokenizer,omitempty"`
	Reach         []Reach  `json:"reach,omitempty"`
	Fallbacks     []string `json:"fallbacks,omitempty"`   // agents to try instead, best first
	Escalation    []string `json:"escalation,omitempty"`  // agents to escalate to, nearest first
	PresenceTTL   Duration `json:"presence_ttl,omitzero"` // offline when not heard for so long
	Breaker       Breaker  `json:"breaker,omitzero"`
	Hints         Hints    `json:"hints,omitzero"`
}

// AgentKinds lists the values of [AgentSpec].Kind.
func AgentKinds() []string { return []string{"agent", "human"} }

// Hints are the cost and time of a usual task. They rank agents that can all do it. Zero fields are unknown.
type Hints struct {
	Cost    int64    `json:"cost_micros,omitempty"` // millionths of the currency that the deployment counts in
	Latency Duration `json:"latency,omitzero"`      // from offer to result
}

// Circuit is how an agent's circuit breaker stands.
type Circuit struct {
	State    string    `json:"state"` // closed, open or half_open
	Failures int       `json:"failures"`
	ResetAt  time.Time `json:"reset_at,omitzero"`
}

// SenderCircuit is an agent's circuit breaker for the handoffs of one sender.
type SenderCircuit struct {
	Sender string `json:"sender"` // an agent, or the principal of somebody else
	Circuit
}

// CircuitStates lists the values of [Circuit].State.
func CircuitStates() []string { return []string{"closed", "open", "half_open"} }

// Agent is a registered agent and its present state.
type Agent struct {
	Name           string          `json:"name"`
	Spec           AgentSpec       `json:"spec"`
	Readiness      Readiness       `json:"readiness"`
	OffDuty        bool            `json:"off_duty,omitempty"` // by an operator, and only an operator makes it ready again
	Circuit        Circuit         `json:"circuit"`            // for the handoffs of all senders
	SenderCircuits []SenderCircuit `json:"pairs,omitempty"`    // those that are open for one sender alone; an agent sees its own
	Held           int             `json:"held"`               // tasks that it owns now
	Seen           time.Time       `json:"seen,omitzero"`      // when the server last heard of it; zero: not since the server was started
	Position       uint64          `json:"position,omitempty"`
	Warnings       []string        `json:"warnings,omitempty"` // what of Spec does not do what its author may expect, in words; not in lists
}

// AgentList is a list of agents.
type AgentList struct {
	Agents   []Agent `json:"agents"`
	Position uint64  `json:"position"`
}

// ReadinessInput says whether an agent takes new work.
type ReadinessInput struct {
	Readiness Readiness `json:"readiness"`
}

// Agents lists the agents.
func (c *Client) Agents(ctx context.Context) (AgentList, error) {
	return ask[AgentList](ctx, c, http.MethodGet, path("agents"), nil, nil)
}

// Agent shows one agent.
func (c *Client) Agent(ctx context.Context, name string) (Agent, error) {
	return c.agent(ctx, http.MethodGet, nil, name)
}

// RegisterAgent adds an agent, or replaces its description.
func (c *Client) RegisterAgent(ctx context.Context, name string, spec AgentSpec) (Agent, error) {
	return c.agent(ctx, http.MethodPut, spec, name)
}

// RemoveAgent removes an agent. What it holds and was offered goes to others when its clocks are over. An agent that is registered under
// its name later is another one, NAME~2, and inherits nothing.
func (c *Client) RemoveAgent(ctx context.Context, name string) (Agent, error) {
	return c.agent(ctx, http.MethodDelete, nil, name)
}

// SetReadiness says whether an agent takes new work. An agent cannot make itself ready ([Conflict]) if an operator made it anything else.
func (c *Client) SetReadiness(ctx context.Context, name string, r Readiness) (Agent, error) {
	return c.agent(ctx, http.MethodPut, ReadinessInput{Readiness: r}, name, "readiness")
}

// ResetCircuit closes an agent's circuit, and those for single senders.
func (c *Client) ResetCircuit(ctx context.Context, name string) (Agent, error) {
	return c.agent(ctx, http.MethodPost, nil, name, "circuit", "reset")
}

func (c *Client) agent(ctx context.Context, method string, in any, segments ...string) (Agent, error) {
	return ask[Agent](ctx, c, method, path(append([]string{"agents"}, segments...)...), nil, in)
}
