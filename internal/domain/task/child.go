package task

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Child is a parent's record of a child task.
type Child struct {
	Task   string        `json:"task"`
	Index  int           `json:"index"`
	To     string        `json:"to"`
	Budget event.Budget  `json:"budget,omitzero"`
	State  event.State   `json:"state"`           // Pending until it ends; Parked while in the dead letters
	Tasks  int           `json:"tasks,omitempty"` // how many may come of it; once it has ended, how many have
	Group  int           `json:"group"`           // children of one spawn belong together
	Result *event.Result `json:"result,omitempty"`
	Why    string        `json:"why,omitempty"` // it failed, was called off or is in the dead letters
}

// FindChild is the place of a child among the task's; below zero if it has none of that id.
func (t *Task) FindChild(id string) int {
	return slices.IndexFunc(t.Children, func(c Child) bool { return c.Task == id })
}

// Stranded are the children that the task waits for and that are in the dead letters. The task waits for them until they
// are replayed or cancelled, or its wait is over.
func (t *Task) Stranded() []Child {
	if t.State != event.Waiting || t.AtDesk() != nil {
		return nil
	}
	var stranded []Child
	for _, c := range t.Children {
		if c.Group == t.Awaits && c.State == event.Parked {
			stranded = append(stranded, c)
		}
	}
	return stranded
}

// Offspring counts the tasks created below this one, and those that its open children may still create.
func (t *Task) Offspring() int {
	n := len(t.Children)
	for _, c := range t.Children {
		n += c.Tasks
	}
	return n
}

// NextChild is the index that the task's next child gets.
func (t *Task) NextChild() int {
	n := 0
	for _, c := range t.Children {
		n = max(n, c.Index+1)
	}
	return n
}

// NotReached ends a sentence with those that should have got a child, and why they could not be reached; empty: all got one.
func NotReached(missed []event.Passed) string {
	if len(missed) == 0 {
		return ""
	}
	return "; not reached: " + event.WhyPassed(missed)
}

// Collected is the result of a parent that nobody owns: those of the children that it waits for.
func (t *Task) Collected() *event.Result {
	var results []event.ChildResult
	for _, c := range t.Children {
		if c.Group == t.Awaits {
			results = append(results, event.ChildResult{Task: c.Task, To: c.To, State: c.State, Result: c.Result})
		}
	}
	r := event.Collect(results)
	r.Text += NotReached(t.Missed)
	return &r
}
