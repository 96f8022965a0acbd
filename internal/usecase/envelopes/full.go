package envelopes

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// What does not fit within the bounds of an envelope or of a task's state: the envelope counts it, and its prompt says how many, and where they are read.

// tell adds steps to the history. Where it gets too long, steps that agents wrote go first, then those that the server tells, the oldest first.
func tell(doc *envelope.Envelope, t task.Task, steps ...envelope.Step) {
	history := append(slices.Clip(doc.History), steps...)
	over := max(0, len(history)-envelope.MaxHistory)
	doc.Drop(envelope.DroppedSteps, over, t.ID)
	for _, recorded := range []bool{false, true} {
		if over == 0 {
			break
		}
		history = slices.DeleteFunc(history, func(s envelope.Step) bool {
			out := over > 0 && s.Recorded == recorded
			if out {
				over--
			}
			return out
		})
	}
	doc.History = history
}

// newest are the last of a list, at most so many. The others are counted.
func newest[T any](doc *envelope.Envelope, t task.Task, list []T, most int, kind envelope.DroppedKind) []T {
	over := max(0, len(list)-most)
	doc.Drop(kind, over, t.ID)
	return list[over:]
}
