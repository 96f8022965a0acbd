package task

import (
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
)

// UnownedHint is the hint for the requester of a task that nobody owns.
func UnownedHint(s event.State) string {
	switch s {
	case event.Waiting:
		return "wait for its children, whose results become its own; or [cancel it](task cancel)"
	case event.HandingOff:
		return "[wait until a receiver accepts](task wait), or [cancel the handoff](handoff withdraw)"
	case event.Parked:
		return "have an operator [replay it](dead replay), or [cancel it](task cancel) and [create another](task create)"
	default:
		return "[hand it off](send), or [start it](task start), first"
	}
}

// Replay is the hint for a task in the dead letters; fields are those of the call that matter.
func Replay(id string, fields ...string) string {
	return "an operator can " + help.To("replay it", "dead replay", id, fields...)
}
