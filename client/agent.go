package client

import (
	"context"
	"net/http"
	"time"
)

// Reach is one way to tell an agent that something waits for it.
type Reach struct {
	Kind string `json:"kind"` // pull, webhook or a2a
	URL  string `json:"url,omitempty"`
}

// Breaker configures an agent's circuit breaker. Zero fields mean the defaults.
type Breaker struct {
	Failures int      `json:"failures,omitempty"` // consecutive failures that open it; 3
	OpenFor  Duration `json:"open_for,omitzero"`  // before one probe; 60s
}

// AgentSpec is what is known about an agent. Its zero value is a good one.
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

// Hints are what a usual task takes of an agent: they rank agents that could all do it. Zero fields are not known.
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

// Agent is an agent as the registry knows it, and how it does now.
type Agent struct {
	Name      string    `json:"name"`
	Spec      AgentSpec `json:"spec"`
	Readiness Readiness `json:"readiness"`
	OffDuty   bool      `json:"off_duty,omitempty"` // by an operator, and only an operator makes it ready again
	Circuit   Circuit   `json:"circuit"`
	Held      int       `json:"held"`          // tasks that it owns now
	Seen      time.Time `json:"seen,omitzero"` // when the server last heard of it; zero: not since the server was started
	Position  uint64    `json:"position,omitempty"`
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

// Relief is what came of moving work away from an agent.
type Relief struct {
	Agent    string      `json:"agent"`
	Moved    []MovedTask `json:"moved"`
	Kept     []KeptTask  `json:"kept"`           // what stays with the agent, and why
	More     bool        `json:"more,omitempty"` // there is more to move: repeat the call with a new key
	Position uint64      `json:"position"`
}

// MovedTask is a task, or an offer of one, that is on its way to somebody else.
type MovedTask struct {
	Task    string   `json:"task"`
	Handoff string   `json:"handoff"`
	To      []string `json:"to,omitempty"` // who is asked first
}

// KeptTask is a task that stays where it is.
type KeptTask struct {
	Task string `json:"task"`
	Code Code   `json:"code,omitempty"` // of the refusal; none if no other agent can take it now
	Why  string `json:"why"`
	Hint string `json:"hint,omitempty"` // what to do next
}

// Agents lists the agents.
func (c *Client) Agents(ctx context.Context) (AgentList, error) {
	return ask[AgentList](ctx, c, http.MethodGet, path("agents"), nil, nil)
}

// Agent shows one agent.
func (c *Client) Agent(ctx context.Context, name string) (Agent, error) {
	return c.agent(ctx, http.MethodGet, nil, name)
}

// RegisterAgent adds an agent, or replaces what is known about it.
func (c *Client) RegisterAgent(ctx context.Context, name string, spec AgentSpec) (Agent, error) {
	return c.agent(ctx, http.MethodPut, spec, name)
}

// RemoveAgent takes an agent out of the registry. What it holds is not touched.
func (c *Client) RemoveAgent(ctx context.Context, name string) (Agent, error) {
	return c.agent(ctx, http.MethodDelete, nil, name)
}

// SetReadiness says whether an agent takes new work. Whom an operator has made anything else than ready, only an operator
// makes ready again: the agent's own word is refused ([Conflict]).
func (c *Client) SetReadiness(ctx context.Context, name string, r Readiness) (Agent, error) {
	return c.agent(ctx, http.MethodPut, ReadinessInput{Readiness: r}, name, "readiness")
}

// ResetCircuit closes an agent's circuit.
func (c *Client) ResetCircuit(ctx context.Context, name string) (Agent, error) {
	return c.agent(ctx, http.MethodPost, nil, name, "circuit", "reset")
}

func (c *Client) relief(ctx context.Context, in any, segments ...string) (Relief, error) {
	return ask[Relief](ctx, c, http.MethodPost, path(append([]string{"agents"}, segments...)...), nil, in)
}

func (c *Client) agent(ctx context.Context, method string, in any, segments ...string) (Agent, error) {
	return ask[Agent](ctx, c, method, path(append([]string{"agents"}, segments...)...), nil, in)
}

// Beat reports that the calling agent is alive. Waiting for its inbox does so too.
func (c *Client) Beat(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, path("presence"), nil, nil, nil)
}
