package event

import (
	"cmp"
	"fmt"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The most that a task may have of something.
const (
	MaxChildren       = 256 // over its life
	MaxShares         = 64
	MaxTakeovers      = 8
	MaxStuckReports   = 3  // reports of one principal that one owner is stuck
	MaxStuckReporters = 16 // principals that may report it
	MaxRetries        = 20
	maxLimit          = 1000   // of each limit but tasks
	maxTasks          = 10_000 // descendants
)

// Limits bound what can happen to a task. Zero fields mean the default.
type Limits struct {
	Hops        int `json:"hops,omitzero"`        // changes of owner; default 10
	Handoffs    int `json:"handoffs,omitzero"`    // requests, successful or not; default 30
	Visits      int `json:"visits,omitzero"`      // times one agent may own it; default 5
	Escalations int `json:"escalations,omitzero"` // default 5
	Attempts    int `json:"attempts,omitzero"`    // recoveries from a lost owner; default 3
	Tasks       int `json:"tasks,omitzero"`       // descendants, all generations together; default 1000
}

// Used is how much of the limits is used up.
type Used struct {
	Hops        int `json:"hops"`
	Handoffs    int `json:"handoffs"`
	Escalations int `json:"escalations"`
	Attempts    int `json:"attempts"`
	Tasks       int `json:"tasks,omitempty"`  // made, or reserved for children to make; a child counts those of its family too
	Base        int `json:"base,omitempty"`   // handoffs before the last replay: their numbers go on, the limit starts at 0
	Before      int `json:"before,omitempty"` // changes of owner before the last replay, which count against no limit
}

// Owners counts the changes of owner so far, those before a replay and those of the parents of the task included.
func (u Used) Owners() int { return u.Hops + u.Before }

// WithDefaults sets the fields that are zero to their defaults.
func (l Limits) WithDefaults() Limits {
	l.Hops = cmp.Or(l.Hops, 10)
	l.Handoffs = cmp.Or(l.Handoffs, 30)
	l.Visits = cmp.Or(l.Visits, 5)
	l.Escalations = cmp.Or(l.Escalations, 5)
	l.Attempts = cmp.Or(l.Attempts, 3)
	l.Tasks = cmp.Or(l.Tasks, 1000)
	return l
}

// Check refuses limits that are out of range.
func (l Limits) Check() error {
	fields := []string{"hops", "handoffs", "visits", "escalations", "attempts", "tasks"}
	for i, v := range []int{l.Hops, l.Handoffs, l.Visits, l.Escalations, l.Attempts, l.Tasks} {
		most := maxLimit
		if fields[i] == "tasks" {
			most = maxTasks
		}
		if v < 0 || v > most {
			return refusal.New(refusal.Invalid, fmt.Sprintf("use 1 to %d, or omit it", most), "a limit of %d is out of range", v).With("field", fields[i])
		}
	}
	return nil
}
