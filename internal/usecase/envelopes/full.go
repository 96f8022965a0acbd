package envelopes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// What does not fit within the bounds of an envelope or of a task's state: a step of the history says how much that is, and where it is read.

// leftOut is the action of a step that says what is not there for a bound. Such a step has no time.
const leftOut = "left out"

// inRecord is where a reader finds what a step of that kind counts.
const inRecord = "the recorded history of the task has them"

// missing is a step that says that so many of something are not there. It names who had the task.
func missing(t task.Task, n int, what, where string) envelope.Step {
	return envelope.Step{Agent: cmp.Or(t.Owner, event.Bare(t.Source())), Action: leftOut, Detail: fmt.Sprintf("%d %s; %s", n, what, where)}
}

// counted is what such a step counts; 0 if s is none of that kind.
func counted(s envelope.Step, what string) (n int) {
	if s.Action != leftOut || !s.Time.IsZero() || !strings.Contains(s.Detail, " "+what+"; ") {
		return 0
	}
	if _, err := fmt.Sscanf(s.Detail, "%d ", &n); err != nil || n < 0 || n > maxCounted {
		return 0
	}
	return n
}

// maxCounted bounds a count that a document from elsewhere may claim.
const maxCounted = 1 << 30

// earlierSteps is what a step counts that stands for the beginning of a history.
const earlierSteps = "earlier steps"

// bounded is a history without some of its steps where it has too many: first the oldest that agents wrote, then the oldest that the server did.
// Its first step then says how many are not there.
func bounded(history []envelope.Step, t task.Task) []envelope.Step {
	if len(history) <= envelope.MaxHistory {
		return history
	}
	before := 0
	history = slices.DeleteFunc(slices.Clone(history), func(s envelope.Step) bool {
		n := counted(s, earlierSteps)
		before += n
		return n > 0
	})
	over := max(0, len(history)-(envelope.MaxHistory-1))
	before += over
	for _, all := range []bool{false, true} {
		history = slices.DeleteFunc(history, func(s envelope.Step) bool {
			out := over > 0 && (all || !byServer(s))
			if out {
				over--
			}
			return out
		})
	}
	return slices.Insert(history, 0, missing(t, before, earlierSteps, inRecord))
}

// serverActions are the beginnings of the actions of steps that the server adds.
var serverActions = []string{
	"answer", "handed over to ", "took over from ", "gave it from ", "delegated to ", "completed the delegated part", "did not complete the delegated part",
	"failed at the delegated part", replayed, "approved the handoff", "rejected the offer", "lifted ", "granted the takeover by ", leftOut,
}

// byServer reports whether a step reads as one that the server added. That of an agent that imitates it is kept as long, and no longer.
func byServer(s envelope.Step) bool {
	return slices.ContainsFunc(serverActions, func(a string) bool { return strings.HasPrefix(s.Action, a) })
}

// newest are the last of a list, at most so many, with a step in the history that says how many others there were.
func newest[T any](doc *envelope.Envelope, t task.Task, list []T, most int, what, where string) []T {
	over := len(list) - most
	if over <= 0 {
		return list
	}
	doc.History = bounded(append(slices.Clip(doc.History), missing(t, over, what, where)), t)
	return list[over:]
}
