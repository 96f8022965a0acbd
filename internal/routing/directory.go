package routing

import (
	"iter"

	"github.com/trapezehq/trapeze/internal/domain/agent"
)

// Hint is the state of one agent as far as it is known. It may be stale.
type Hint struct {
	Agent agent.State
	Held  int // number of tasks that it holds
}

// Directory looks up agents. Its results should not change during one call of Route.
type Directory interface {
	// Lookup finds an agent; false if none of that name was ever registered.
	Lookup(name string) (Hint, bool)
	// All yields every agent once, in any order. A hint is valid until the next is yielded.
	All() iter.Seq[*Hint]
	// Having yields every agent with a capability once, in any order, and may yield others. A hint is valid until the next
	// is yielded.
	Having(capability string) iter.Seq[*Hint]
}
