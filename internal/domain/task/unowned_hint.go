package task

import (
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// UnownedHint is the hint for the requester of a task that nobody owns.
func UnownedHint(s event.State) string {
	switch s {
	case event.Waiting:
		return "wait for its children, whose results become its own; or cancel it"
	case event.HandingOff:
		return "wait until a receiver accepts, or cancel the handoff"
	case event.Parked:
		return "have an operator replay it, or cancel it and create another"
	default:
		return "hand it off (send), or start it, first"
	}
}

// Replay is the hint for a task in the dead letters.
func Replay(id string) string {
	return "an operator can replay it: " + shellword.Command("trapeze dead replay", id)
}
