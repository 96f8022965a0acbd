package bound

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// OperatorsHandoff is the hint for the owner of a task that an operator takes away.
const OperatorsHandoff = "wait for it: an operator requested it, and only operators call it off"

// TakenAway reports whether an operator takes the task from its owner with the handoff in flight. What an operator sends on for the owner is not that.
func TakenAway(t task.Task) bool {
	h := t.InFlight()
	return h != nil && t.Owner != "" && h.Reason == event.ReasonSupervision && identity.ParsePrincipal("", h.By).IsOperator()
}

// RequireOwnRequest refuses to the owner of a task to call off the handoff by which an operator takes it away.
func RequireOwnRequest(t task.Task, by identity.Principal) error {
	if by.IsOperator() || by.IsSystem() || !TakenAway(t) {
		return nil
	}
	h := t.InFlight()
	return refusal.New(refusal.NotPermitted, OperatorsHandoff, "%s requested handoff %s of the task: %s cannot call it off", event.Bare(h.By), h.ID(t.ID), by.Short())
}

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
