package tool

import (
	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// WaitAgain returns for how many seconds to wait next, after a call that waited so many: as long, since the client of a model that waits less
// than usual may give calls up earlier, often after 5 or 10 s. A shorter wait is only a look.
func WaitAgain(waited int) int {
	const usual, look = 45, 3
	if waited > look {
		return waited
	}
	return usual
}

// NextOf says what to do about a task that its owner cannot simply continue: wait again, after a call that waited so many seconds, or handle dead
// letters.
func NextOf(set toolset.Set, t client.Task, waited int) string {
	again := ""
	if waited > 0 && !t.State.Final() {
		again = set.Text("to wait for a change, call {status} with id=%s, wait=%d, after=%d", t.ID, WaitAgain(waited), t.Position)
	}
	stranded := t.Stranded()
	switch {
	case t.State == client.Parked && denied(t):
		return set.Text("the handoff was denied, and only an operator can replay the task: ask the user to run %s. Do not send the same again; {cancel} discards it", shellword.Command("trapeze dead replay", t.ID))
	case t.State == client.Parked:
		return set.Text("only an operator can replay it: ask the user to run %s. Or {send} its intent as a new task, with what was missing", shellword.Command("trapeze dead replay", t.ID))
	case len(stranded) == 0:
		return again
	case again != "":
		again = "; " + again
	}
	return Without(set, t, stranded[0].Task) + again
}

// denied reports whether a task is in the dead letters because its handoff was denied.
func denied(t client.Task) bool {
	return t.Parked != nil && t.Parked.Cause == "returned" && t.Ticket != nil && t.Ticket.Outcome == "denied"
}

// Without says how the owner or requester of a task continues when a child task is in the dead letters.
func Without(set toolset.Set, t client.Task, child string) string {
	replay := "only an operator can replay " + child + ": ask the user to run " + shellword.Command("trapeze dead replay", child) + ". "
	if t.Owner == "" {
		return replay + set.Text("Or call {cancel} with id=%s, and send its intent to another agent", t.ID)
	}
	return replay + set.Text("Or call {cancel} with id=%s: you continue without it, and can send its work to another agent", child)
}
