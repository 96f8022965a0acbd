package authority

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// RequireLive refuses a task that does not exist or is over.
func RequireLive(t task.Task) error {
	switch {
	case !t.Exists():
		return refusal.New(refusal.NotFound, "check the id; [list tasks](task list) to see those you may see", "there is no such task")
	case t.State.Final():
		return refusal.New(refusal.Conflict, "it cannot change any more; [create a new task](task create)", "task %s is %s since %s: %s", t.ID, t.State, t.Ended.UTC().Format(time.RFC3339), whose(t))
	}
	return nil
}

// RequireOwner refuses all principals but the owner, and any epoch but the current one.
func RequireOwner(t task.Task, by identity.Principal, epoch uint64) error {
	if err := RequireLive(t); err != nil {
		return err
	}
	if t.Owner == "" && t.Requester == by.String() {
		return refusal.New(refusal.Conflict, task.UnownedHint(t.State), "task %s is %s and nobody owns it", t.ID, t.State)
	}
	if t.Owner == "" || by.Agent() != t.Owner {
		return refusal.New(refusal.NotOwner, "only the owner may do this; "+regain(t, by), "%s does not own task %s: %s", by.Short(), t.ID, whose(t))
	}
	return RequireEpoch(t, epoch)
}

// RequireEpoch refuses any epoch but the current one; 0 is none.
func RequireEpoch(t task.Task, epoch uint64) error {
	switch epoch {
	case t.Epoch:
		return nil
	case 0:
		return refusal.New(refusal.StaleEpoch, "[say under which epoch you act](.epoch); [fetch the task](task show) and look at its owner and epoch",
			"the call has no epoch, and task %s has epoch %d", t.ID, t.Epoch).With("epoch", t.Epoch)
	}
	return refusal.New(refusal.StaleEpoch, "ownership has changed since; [fetch the task](task show) and look at its owner and epoch",
		"epoch %d is not task %s's epoch %d", epoch, t.ID, t.Epoch).With("epoch", t.Epoch)
}

// RequireSource refuses all principals but the source: the owner with the current epoch, or the requester of a task that
// nobody owns. Operators and the server may act for the source, and may omit the epoch.
func RequireSource(t task.Task, by identity.Principal, epoch uint64) error {
	if err := RequireLive(t); err != nil {
		return err
	}
	if (by.IsOperator() || by.IsSystem()) && epoch == 0 {
		return nil
	}
	if t.Owner != "" && !by.IsOperator() && !by.IsSystem() {
		return RequireOwner(t, by, epoch)
	}
	if by.String() != t.Requester && !by.IsOperator() && !by.IsSystem() {
		return refusal.New(refusal.NotOwner, "only the requester may hand off a task that nobody owns",
			"%s did not create task %s", by.Short(), t.ID)
	}
	return RequireEpoch(t, epoch)
}

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
