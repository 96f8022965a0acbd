package routing

import (
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Bounds of a plan.
const (
	MaxTargets   = 256 // names in a request
	MaxListed    = 64  // agents found by capability
	MaxFallbacks = 32
	MaxNeeds     = 16 // capabilities
	maxSuggested = 8  // names that a refusal suggests
)

// Auto is the receiver of a task whose receiver the policy decides. No agent can have the name.
const Auto = "auto"

// Request names the receiver of a handoff: agents by name, or else any agent with the capabilities.
type Request struct {
	Agents  []string // in order of preference; empty to route by capability
	Needs   []string // capabilities that a target or fallback must have
	Exclude []string // agents that must not receive it, for example the source
	// Likes are capabilities that are preferred but not needed, such as the task's tags: more of them rank higher.
	Likes []string
	// Fallbacks returns further fallbacks of an agent, after those of its own specification; nil: none.
	Fallbacks func(agent string) []string
	// Own are the handoffs that the request may be for. If one of them has already claimed the probe of a half-open circuit,
	// in a decision that is repeated, it may use it.
	Own []string
	// Sender is the principal on whose account the handoff is made: its circuit with an agent counts beside the shared one. Empty:
	// the shared ones only.
	Sender string
	// Spread orders equally good agents found by capability: each value, for example a task's id, gives another order, so
	// that many concurrent handoffs do not all go to the agents whose names come first. Empty: by name.
	Spread string
}

// check refuses (invalid) a malformed request.
func (r Request) check() error {
	if len(r.Agents) == 0 && len(r.Needs) == 0 {
		return refusal.New(refusal.Invalid, "[name an agent](.to), a list of agents or [a capability](.capability)", "the handoff has no target")
	}
	for _, l := range []struct {
		field string
		what  string
		names []string
		most  int
	}{
		{"to", "target agent", r.Agents, MaxTargets},
		{"capability", "needed capability", r.Needs, MaxNeeds},
	} {
		if len(l.names) > l.most {
			return refusal.New(refusal.Invalid, "name fewer", "%d names as %s, at most %d are allowed", len(l.names), l.what, l.most).With("field", l.field)
		}
		for _, n := range l.names {
			if err := event.CheckAgent(l.what, n); err != nil {
				return refusal.In(l.field, err)
			}
		}
	}
	return nil
}
