package event

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxDependencies is how many tasks one task may depend on.
const MaxDependencies = 64

// Dependency is a task that must complete before this one can start.
type Dependency struct {
	Task  string `json:"task"`
	State State  `json:"state"` // Pending until it ends
}

// CheckDependencies refuses dependencies of a task that are too many, have no task id, are named twice, or are the task itself.
func CheckDependencies(task string, on []Dependency) error {
	if err := checkCount("dependencies", len(on), MaxDependencies, "split the work"); err != nil {
		return err
	}
	for i, d := range on {
		if err := CheckTaskID(d.Task); err != nil {
			return err
		}
		if d.Task == task {
			return refusal.New(refusal.Invalid, "omit it", "task %s cannot depend on itself", task)
		}
		if slices.ContainsFunc(on[:i], func(o Dependency) bool { return o.Task == d.Task }) {
			return refusal.New(refusal.Invalid, "name each once", "task %s is named twice as a dependency", d.Task)
		}
	}
	return nil
}
