package routing

import (
	"iter"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
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

// Auto is what a task is sent to where the policy is to decide. No agent may have the name.
const Auto = "auto"

// Request says whom a handoff is for: agents by name, or else anyone who has the capabilities.
type Request struct {
	Agents  []string // in order of preference; empty to route by capability
	Needs   []string // capabilities that a target or fallback must have
	Exclude []string // agents to leave out, for example the source
	// Likes are capabilities that are welcome and not needed, such as the task's tags: who has more of them fits better.
	Likes []string
	// StandIns are further agents to try where one cannot take it, after those that the registry has for it; nil: none.
	StandIns func(agent string) []string
	// Own are the handoffs that the request may be for: the probe of a half-open circuit that one of them has already, from
	// a decision that has to be made again, is theirs to use.
	Own []string
	// Spread settles between equals found by capability: each value, for example a task's id, has an order of its own, so that
	// many handoffs at once do not all go to the agents whose names come first. Empty: by name.
	Spread string
}

// Hint is what is known of one agent. It may be stale.
type Hint struct {
	Agent agent.State
	Held  int       // tasks that it holds
	AsOf  time.Time // when this was true; zero if it is true now
}

// Directory gives hints. Its answers should stay the same during one call of Route.
type Directory interface {
	// Lookup finds an agent; false when none of that name was ever registered.
	Lookup(name string) (Hint, bool)
	// All yields every agent once, in any order. A hint is good until the next is yielded.
	All() iter.Seq[*Hint]
	// Having yields everybody who has a capability once, in any order, and may yield others. A hint is good until the next is
	// yielded.
	Having(capability string) iter.Seq[*Hint]
}

// check refuses (invalid) a request that nobody could serve as it stands.
func (r Request) check() error {
	if len(r.Agents) == 0 && len(r.Needs) == 0 {
		return refusal.New(refusal.Invalid, "name an agent, a list of agents or a capability", "the handoff has no target")
	}
	for _, l := range []struct {
		what  string
		names []string
		most  int
	}{
		{"target agent", r.Agents, MaxTargets},
		{"needed capability", r.Needs, MaxNeeds},
	} {
		if len(l.names) > l.most {
			return refusal.New(refusal.Invalid, "name fewer", "%d names as %s, at most %d are allowed", len(l.names), l.what, l.most)
		}
		for _, n := range l.names {
			if err := event.CheckName(l.what, n); err != nil {
				return err
			}
		}
	}
	return nil
}
