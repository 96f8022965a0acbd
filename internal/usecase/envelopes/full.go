package envelopes

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// What does not fit within the bounds of an envelope or of a task's state: the envelope counts it, and its prompt says how many, and where they are read.

// maxHistoryBytes bounds the words of a history.
const maxHistoryBytes = 192 << 10

// tell adds steps to the history. Where it gets too long, steps that agents wrote go first, each time the oldest of the agent with the most bytes, and then
// those that the server tells: nobody displaces the steps of others by a flood of its own.
func tell(doc *envelope.Envelope, t task.Task, steps ...envelope.Step) {
	if len(steps) == 0 { // the history may be another envelope's
		return
	}
	doc.History = append(slices.Clip(doc.History), steps...)
	size := func(s envelope.Step) int { return 100 + len(s.Action) + len(s.Detail) }
	bytes, all := map[string]int{}, 0
	for _, s := range doc.History {
		all += size(s)
		if !s.Recorded {
			bytes[s.Agent] += size(s)
		}
	}
	for len(doc.History) > envelope.MaxHistory || all > maxHistoryBytes {
		most := ""
		for agent, n := range bytes {
			if n > bytes[most] || n == bytes[most] && agent < most {
				most = agent
			}
		}
		at := max(0, slices.IndexFunc(doc.History, func(s envelope.Step) bool { return !s.Recorded && s.Agent == most }))
		s := doc.History[at]
		all -= size(s)
		if !s.Recorded {
			bytes[s.Agent] -= size(s)
		}
		doc.History = slices.Delete(doc.History, at, at+1)
		doc.Drop(envelope.DroppedSteps, 1, t.ID)
	}
}

// newest are the last of a list, at most so many. The others are counted.
func newest[T any](doc *envelope.Envelope, t task.Task, list []T, most int, kind envelope.DroppedKind) []T {
	over := max(0, len(list)-most)
	doc.Drop(kind, over, t.ID)
	return list[over:]
}
