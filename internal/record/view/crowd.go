package view

import (
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Crowd is a workspace's agents and how many tasks each holds, together, as the views had them. It is shared between
// goroutines: do not change it.
type Crowd struct {
	Agents []agent.State  // by name, removed ones left out
	Held   map[string]int // tasks that an agent owns and that have not ended or been parked; none: left out

	// AgentsAt and HeldAt say as of when: a later Crowd shares what has not changed since.
	AgentsAt uint64
	HeldAt   ledger.Position
}
