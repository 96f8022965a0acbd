package task

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Replay is the hint for a task in the dead letters.
func Replay(id string) string {
	return "an operator can replay it: " + shellword.Command("trapeze dead replay", id)
}

// NoOffer is the hint for an agent whose offer is over.
const NoOffer = "nothing to do; your inbox lists the open offers"

// maxReason is how much of the reason of another a refusal repeats, in bytes.
const maxReason = 500

// CalledOff is the refusal of a late answer to an offer of a task that was cancelled: it says who cancelled it, and why. It is nil for other tasks, and
// for agents that were no candidates of the last handoff.
func CalledOff(t Task, agent string, handoff int) error {
	h := t.Handoff
	if !t.Exists() || h == nil || handoff != h.N || t.EndedBy == "" || !slices.ContainsFunc(h.Candidates, func(c event.Candidate) bool { return c.Agent == agent }) {
		return nil
	}
	return refusal.New(refusal.Conflict, NoOffer, "task %s is %s; %s", t.ID, t.State, Because(t.EndedBy+" cancelled it", t.EndedWhy))
}

// Since says who has begun the handoff that made an earlier offer void and, if the task was taken away by it, why.
func Since(h *Handoff) string {
	by := cmp.Or(event.Bare(h.By), h.From)
	switch taken := h.Unasked || h.By == "agent/"+h.Receiver; {
	case h.Stage != event.Transferred:
		return by + " has begun a later handoff"
	case taken && by == h.Receiver:
		return Because(by+" has taken the task over", h.Detail)
	case taken:
		return Because(by+" has given the task to "+h.Receiver, h.Detail)
	default:
		return by + " has handed the task to " + h.Receiver + " since"
	}
}

// Because is what happened with its reason, the beginning of it on one line, if there is one.
func Because(what, why string) string {
	if len(why) > maxReason {
		why = strings.ToValidUTF8(why[:maxReason], "") + "…"
	}
	if why = strings.Join(strings.Fields(why), " "); why == "" {
		return what
	}
	return what + ": " + why
}
