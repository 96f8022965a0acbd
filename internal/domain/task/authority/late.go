package authority

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/identity"
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

// whose says who has a task and since when, or who ended it.
func whose(t task.Task) string {
	h := t.Handoff
	switch {
	case t.State == event.Cancelled && t.EndedBy != "":
		return event.Bare(t.EndedBy) + " cancelled it"
	case t.State == event.Completed && t.Owner != "":
		return t.Owner + " completed it"
	case t.State == event.Failed && t.Owner != "":
		return t.Owner + " gave it up"
	case t.State.Final():
		return "nobody owned it"
	case t.State == event.Parked:
		return "it is in the dead letters"
	case t.Owner == "":
		return "nobody does, since it is " + string(t.State)
	case h != nil && h.Stage == event.Transferred && h.Receiver == t.Owner:
		return t.Owner + " does, since " + h.Ended.UTC().Format(time.RFC3339) + ", by handoff " + h.ID(t.ID)
	}
	return t.Owner + " does"
}

// at is when something happened, for the end of a sentence.
func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " at " + t.UTC().Format(time.RFC3339)
}

// regain is the hint for a principal that wants to do what only the owner of a task may do.
func regain(t task.Task, by identity.Principal) string {
	h := t.InFlight()
	switch {
	case h != nil && h.Stage == event.Offered && slices.Contains(h.To, by.Agent()):
		return help.To("accept that offer", "accept", h.ID(t.ID)) + " first"
	case h != nil && h.Stage == event.Accepted && h.Receiver == by.Agent():
		return "wait until the sender confirms: [the task shows it](task wait)"
	case t.State == event.Parked:
		return task.Replay(t.ID)
	case slices.ContainsFunc(t.Takeovers, func(ask task.TakeoverRequest) bool { return ask.By == by.Agent() }):
		return "[wait](task wait) until the owner answers your request for the task"
	case by.Agent() == "":
		return "[use the token of its owner](act as)"
	case t.Requester == by.String():
		return "[ask for the task](takeover), or [cancel it](task cancel), which you may as its requester"
	}
	return "[ask for the task](takeover)"
}

// Over is the refusal of what comes too late for a handoff that a principal asked for, was offered or approves: it says how the handoff ended and who
// has the task now. It is nil for the handoff in flight.
func Over(t task.Task, by identity.Principal, handoff int) error {
	if err := RequireLive(t); err != nil {
		return err
	}
	h := t.Handoff
	if h == nil || handoff > h.N || handoff < 1 {
		return refusal.New(refusal.NotFound, "[fetch the task](task show) to see its handoffs", "task %s has no handoff %d", t.ID, handoff)
	}
	var why string
	switch {
	case handoff < h.N:
		why = since(h)
	case h.Stage == event.Transferred:
		why = h.Receiver + " accepted it" + at(h.Ended)
	case h.Stage.Final():
		why = because("it was "+string(h.Stage)+at(h.Ended), h.Why)
	default:
		return nil
	}
	hint := "nothing is left to do with it; [fetch the task](task show) to see what is"
	switch {
	case t.State == event.Parked:
		hint = task.Replay(t.ID)
	case t.Owner != "" && t.Owner != by.Agent():
		why += "; " + t.Owner + " owns the task now"
		if by.Agent() != "" {
			hint = regain(t, by)
		} else if by.IsOperator() {
			hint = "[give the task to another agent](takeover .to), or [cancel it](task cancel)"
		}
	case t.Owner != "":
		hint = "you own the task: [fetch its context](task context) and go on with it"
	}
	return refusal.New(refusal.Expired, hint, "handoff %s is over: %s", event.HandoffID(t.ID, handoff), why)
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
