package agents

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// AgentSpec is what is known about an agent, as the APIs take and give it.
type AgentSpec struct {
	Kind          agent.Kind     `json:"kind,omitempty" doc:"agent if left out."`
	Description   string         `json:"description,omitempty"`
	Capabilities  []string       `json:"capabilities,omitempty"`
	MaxTasks      int            `json:"max_tasks,omitempty" minimum:"0" doc:"Concurrent tasks; left out: not limited."`
	ContextWindow int            `json:"context_window,omitempty" minimum:"0" doc:"Tokens."`
	Tokenizer     string         `json:"tokenizer,omitempty"`
	Reach         []agent.Reach  `json:"reach,omitempty" doc:"How to reach it; left out: it pulls. A webhook or a2a is refused: nothing is delivered that way yet."`
	Fallbacks     []string       `json:"fallbacks,omitempty" doc:"Agents to try instead, best first."`
	Escalation    []string       `json:"escalation,omitempty" doc:"Agents to escalate to, nearest first."`
	PresenceTTL   event.Duration `json:"presence_ttl,omitzero" doc:"Offline when not heard for so long; left out: never, until it registers itself, sends heartbeats or waits for its inbox; then 5m."`
	Breaker       Breaker        `json:"breaker,omitzero"`
	Hints         Hints          `json:"hints,omitzero"`
}

// Hints are what a usual task takes of an agent: they rank agents that could all do it.
type Hints struct {
	Cost    int64          `json:"cost_micros,omitempty" minimum:"0" doc:"Millionths of the currency that the deployment counts in; left out: not known."`
	Latency event.Duration `json:"latency,omitzero" doc:"From offer to result; left out: not known."`
}

// Breaker configures an agent's circuit breaker.
type Breaker struct {
	Failures int            `json:"failures,omitempty" minimum:"0" doc:"Consecutive failures that open it; 3 if left out."`
	OpenFor  event.Duration `json:"open_for,omitzero" doc:"How long before one probe; 60s if left out."`
}

func (s AgentSpec) spec() agent.Spec {
	return agent.Spec{
		Kind: s.Kind, Description: s.Description, Capabilities: s.Capabilities, MaxTasks: s.MaxTasks,
		ContextWindow: s.ContextWindow, Tokenizer: s.Tokenizer, Reach: s.Reach, Fallbacks: s.Fallbacks, Escalation: s.Escalation,
		PresenceTTL: time.Duration(s.PresenceTTL),
		Breaker:     agent.Breaker{Failures: s.Breaker.Failures, OpenFor: time.Duration(s.Breaker.OpenFor)},
		Estimates:   agent.Estimates{Cost: s.Hints.Cost, Latency: time.Duration(s.Hints.Latency)},
	}
}

func specOf(s agent.Spec) AgentSpec {
	return AgentSpec{
		Kind: s.Kind, Description: s.Description, Capabilities: s.Capabilities, MaxTasks: s.MaxTasks,
		ContextWindow: s.ContextWindow, Tokenizer: s.Tokenizer, Reach: s.Reach, Fallbacks: s.Fallbacks, Escalation: s.Escalation,
		PresenceTTL: event.Duration(s.PresenceTTL),
		Breaker:     Breaker{Failures: s.Breaker.Failures, OpenFor: event.Duration(s.Breaker.OpenFor)},
		Hints:       Hints{Cost: s.Estimates.Cost, Latency: event.Duration(s.Estimates.Latency)},
	}
}

// sameStanding reports whether two specs agree in what decides which tasks an agent is offered: that is not for the agent
// itself to say.
func sameStanding(a, b AgentSpec) bool {
	normal := func(s AgentSpec) AgentSpec {
		caps := slices.Compact(slices.Sorted(slices.Values(s.Capabilities)))
		return AgentSpec{
			Kind: cmp.Or(s.Kind, agent.KindAgent), Capabilities: append([]string{}, caps...), MaxTasks: s.MaxTasks,
			Reach: append([]agent.Reach{}, s.Reach...), Fallbacks: append([]string{}, s.Fallbacks...),
			Escalation: append([]string{}, s.Escalation...), Hints: s.Hints,
			Breaker: Breaker{
				Failures: cmp.Or(s.Breaker.Failures, agent.DefaultFailures),
				OpenFor:  cmp.Or(s.Breaker.OpenFor, event.Duration(agent.DefaultOpenFor)),
			},
		}
	}
	return reflect.DeepEqual(normal(a), normal(b))
}
