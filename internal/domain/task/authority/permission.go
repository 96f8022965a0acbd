package authority

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// RequireNarrower refuses permissions that the task does not have.
func RequireNarrower(t task.Task, permissions []string) error {
	if t.Permissions == nil {
		return task.CheckNewPermissions("a permission", permissions, event.MaxPermissions)
	}
	if err := event.CheckLabels("a permission", permissions, event.MaxPermissions); err != nil {
		return err
	}
	for _, p := range permissions {
		if !slices.Contains(t.Permissions, p) {
			return refusal.New(refusal.NotPermitted, "permissions can only be narrowed: pass on a subset of the task's", "task %s has no permission %q", t.ID, p)
		}
	}
	return nil
}
