package view

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// DecisionRow is a decision of routing that handed a task off, or kept it. Text of agents in it is data.
type DecisionRow struct {
	Time     time.Time `json:"time"`
	Task     string    `json:"task"`
	Handoff  string    `json:"handoff,omitempty"`  // its id; empty: it made children, or kept the task
	Children []string  `json:"children,omitempty"` // the ids of tasks; at most [MaxDecided]
	event.Decision
	At ledger.Position `json:"position"` // of its entry
}

// MaxDecided is how many children of one decision are listed.
const MaxDecided = 20

// DecisionFilter narrows a list of decisions. A zero field does not narrow it.
type DecisionFilter struct {
	Rule   string
	Policy string          // its digest
	Before ledger.Position // of the last decision of the page before; lists run from the newest to the oldest
	Limit  int
}

// DecisionQueries lists the decisions of routing.
type DecisionQueries interface {
	// Decisions lists the decisions of a workspace from the newest to the oldest.
	Decisions(ctx context.Context, workspace string, f DecisionFilter) ([]DecisionRow, error)
}
