package authority

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// noOffer is the hint for an agent whose offer is over.
const noOffer = "nothing to do; [your inbox](inbox) lists the open offers"

// maxReason is how much of the reason of another a refusal repeats, in bytes.
const maxReason = 500

// calledOff is the refusal of a late answer to an offer of a task that was cancelled: it says who cancelled it, and why. It is nil for other tasks, and
// for agents that were no candidates of the last handoff.
func calledOff(t task.Task, agent string, handoff int) error {
	h := t.Handoff
	if !t.Exists() || h == nil || handoff != h.N || t.EndedBy == "" || !slices.ContainsFunc(h.Candidates, func(c event.Candidate) bool { return c.Agent == agent }) {
		return nil
	}
	return refusal.New(refusal.Conflict, noOffer, "task %s is %s; %s", t.ID, t.State, because(t.EndedBy+" cancelled it", t.EndedWhy))
}

// since says who has begun the handoff that made an earlier offer void and, if the task was taken away by it, why.
func since(h *task.Handoff) string {
	by := cmp.Or(event.Bare(h.By), h.From)
	switch taken := h.Unasked || h.By == "agent/"+h.Receiver; {
	case h.Stage != event.Transferred:
		return by + " has begun a later handoff"
	case taken && by == h.Receiver:
		return because(by+" has taken the task over", h.Detail)
	case taken:
		return because(by+" has given the task to "+h.Receiver, h.Detail)
	default:
		return by + " has handed the task to " + h.Receiver + " since"
	}
}

// because is what happened with its reason, the beginning of it on one line, if there is one.
func because(what, why string) string {
	if len(why) > maxReason {
		why = strings.ToValidUTF8(why[:maxReason], "") + "…"
	}
	if why = strings.Join(strings.Fields(why), " "); why == "" {
		return what
	}
	return what + ": " + why
}
