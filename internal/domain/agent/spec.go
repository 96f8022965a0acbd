package agent

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Kind says whether the agent is a program or a person.
type Kind string

// The kinds of agent.
const (
	KindAgent Kind = "agent"
	KindHuman Kind = "human"
)

// Kinds lists every kind of agent.
var Kinds = event.NewSet("a kind of agent", KindAgent, KindHuman)

// ReachKind is a way to tell an agent that something waits for it.
type ReachKind string

// The ways to be reached.
const (
	ReachPull    ReachKind = "pull"    // the agent asks for its inbox; no address
	ReachWebhook ReachKind = "webhook" // an HTTP POST to URL
	ReachA2A     ReachKind = "a2a"     // an A2A agent at URL
)

// ReachKinds lists every way to be reached.
var ReachKinds = event.NewSet("a way to be reached", ReachPull, ReachWebhook, ReachA2A)

// Reach is one way to reach an agent.
type Reach struct {
	Kind ReachKind `json:"kind"`
	URL  string    `json:"url,omitempty"` // absolute http or https, without credentials; empty for pull
}

// Breaker configures an agent's circuit.
type Breaker struct {
	Failures int           `json:"failures"`    // consecutive failures that open it; 0 means DefaultFailures
	OpenFor  time.Duration `json:"open_for_ns"` // how long it stays open before one probe; 0 means DefaultOpenFor
}

// Estimates holds the cost and the time of a usual task, as an operator estimates them. They rank agents that could all do a
// task, and bind nobody.
type Estimates struct {
	Cost    int64         `json:"cost_micros,omitempty"` // millionths of the currency that the deployment counts in; 0 is not known
	Latency time.Duration `json:"latency_ns,omitempty"`  // from offer to result; 0 is not known
}

// Defaults of an agent's circuit.
const (
	DefaultFailures = 3
	DefaultOpenFor  = 60 * time.Second
)

// DefaultPresence is the PresenceTTL of a program that connects and has none. It is as long as a model may think between two calls.
const DefaultPresence = 5 * time.Minute

// Spec is the registration of an agent, without its present readiness. The zero value is a program that pulls, without
// limits or alternatives, and counts as present however long it is silent.
type Spec struct {
	Kind          Kind          `json:"kind"` // empty means KindAgent
	Description   string        `json:"description,omitempty"`
	Capabilities  []string      `json:"capabilities,omitempty"`    // a set: kept sorted, without repeats
	MaxTasks      int           `json:"max_tasks,omitempty"`       // concurrent tasks; 0 is no limit
	ContextWindow int           `json:"context_window,omitempty"`  // tokens; 0 is not known
	Tokenizer     string        `json:"tokenizer,omitempty"`       // empty leaves the server's default
	Reach         []Reach       `json:"reach,omitempty"`           // empty means it pulls
	Fallbacks     []string      `json:"fallbacks,omitempty"`       // agents to try instead, best first
	Escalation    []string      `json:"escalation,omitempty"`      // agents to escalate to, nearest first
	PresenceTTL   time.Duration `json:"presence_ttl_ns,omitempty"` // offline when not heard of for so long; 0 is never
	Breaker       Breaker       `json:"breaker"`
	Estimates     Estimates     `json:"hints,omitzero"`
}

// Has reports whether the agent has a capability. The spec must be normal, as every State's is.
func (s Spec) Has(capability string) bool {
	_, ok := slices.BinarySearch(s.Capabilities, capability)
	return ok
}

// normal returns s with defaults filled in and sets in order, sharing nothing with s, so that two specs that mean
// the same are equal and the caller may go on changing its own.
func (s Spec) normal() Spec {
	if s.Kind == "" {
		s.Kind = KindAgent
	}
	if s.Breaker.Failures == 0 {
		s.Breaker.Failures = DefaultFailures
	}
	if s.Breaker.OpenFor == 0 {
		s.Breaker.OpenFor = DefaultOpenFor
	}
	s.Capabilities = slices.Compact(slices.Sorted(slices.Values(s.Capabilities)))
	s.Reach = slices.Clone(s.Reach)
	s.Fallbacks = slices.Clone(s.Fallbacks)
	s.Escalation = slices.Clone(s.Escalation)
	return s
}

// equal compares two normal specs.
func (s Spec) equal(t Spec) bool {
	return s.Kind == t.Kind && s.Description == t.Description && s.MaxTasks == t.MaxTasks &&
		s.ContextWindow == t.ContextWindow && s.Tokenizer == t.Tokenizer &&
		s.PresenceTTL == t.PresenceTTL && s.Breaker == t.Breaker && s.Estimates == t.Estimates &&
		slices.Equal(s.Capabilities, t.Capabilities) && slices.Equal(s.Reach, t.Reach) &&
		slices.Equal(s.Fallbacks, t.Fallbacks) && slices.Equal(s.Escalation, t.Escalation)
}
