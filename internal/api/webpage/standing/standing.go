package standing

import (
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

// Standing is what a task that has not ended waits for, in a sentence, and where that is decided.
type Standing struct {
	Tone  string // bad, ask or "", as of a moment
	Text  string
	Until time.Time // when the server goes on by itself; zero: it does not
	Then  string    // what it does then
	Link  string    // where a person looks or acts; empty: nowhere
	Do    string    // the words of the link
	Task  string    // that the link leads to, whose name is its words then
}

// Of says why a task is where it is: first what decides, then what else is open.
func Of(t client.Task) (all []Standing) {
	if t.State.Final() {
		return nil
	}
	approving := t.Ticket != nil && t.Ticket.Open() && t.Ticket.Kind == "approval"
	add := func(s Standing) {
		if !approving && !s.Until.IsZero() && !t.Deadline.IsZero() && !s.Until.Before(t.Deadline) { // which stands still while an approval is pending
			s.Until, s.Then = t.Deadline, "its deadline has passed, and it goes to the dead letters"
		}
		all = append(all, s)
	}
	if p := t.Parked; t.State == client.Parked && p != nil {
		add(Standing{Tone: "bad", Text: "In the dead letters, " + human.Label(p.Cause) + ": " + human.Times(p.Detail), Link: DeadLetter(t), Do: "Replay or discard it"})
	}
	if k, ok := ofTicket(t); ok {
		add(k)
	}
	if h := t.Handoff; h != nil && t.State == client.HandingOff && !approving {
		add(handingOff(h))
	}
	for _, d := range t.Dependencies {
		if d.State != client.Completed {
			add(Standing{Tone: "ask", Text: "Depends on a task that " + until(d.State), Link: "/tasks/" + d.Task, Task: d.Task})
		}
	}
	for _, k := range t.Stranded() {
		add(Standing{Tone: "bad", Text: "Waits for the part of " + k.To + ", which is in the dead letters: " + k.Why, Link: "/tasks/" + k.Task, Task: k.Task})
	}
	if t.State == client.Waiting {
		if s, ok := waiting(t); ok {
			add(s)
		}
	}
	if t.State == client.Executing {
		add(atWork(t))
	}
	if t.State == client.Pending && len(all) == 0 {
		add(Standing{Tone: "ask", Text: "Nobody owns it: " + t.Requester + " has to send it", Until: t.TakeUpBy, Then: "it goes to the dead letters", Link: "#takeover", Do: "Give it to an agent"})
	}
	for _, a := range t.Takeovers {
		add(Standing{Tone: "ask", Text: a.By + " asks to take it over: " + a.Detail, Link: "#takeover", Do: "Give it to an agent"})
	}
	return all
}

// DeadLetter is the page of the dead letters with a task alone: there may be more than it lists at once.
func DeadLetter(t client.Task) string { return "/dead?text=" + t.ID }

// atWork says who works on a task. One who has taken it over from a desk is not replaced by another agent: the next desk is asked.
func atWork(t client.Task) Standing {
	s := Standing{Text: t.Owner + " works on it", Until: t.Lease, Then: "another agent is asked, if there is no sign of life before", Link: "/agents/" + t.Owner, Do: "Look at the agent"}
	if k := t.Ticket; k != nil && k.State == "claimed" && k.Kind == "takeover" && k.ClaimedBy == t.Owner {
		s.Text = t.Owner + " has taken it over from the desk " + k.Desk + ", and works on it"
		s.Then = after(t, k)
	}
	if t.Progress != "" {
		s.Text += ": " + t.Progress
	}
	return s
}

// handingOff says what the newest handoff waits for.
func handingOff(h *client.Handoff) Standing {
	to := strings.Join(h.To, ", ")
	switch {
	case !h.RetryAt.IsZero():
		return Standing{Tone: "ask", Text: "The offer failed", Until: h.RetryAt, Then: "it is made again", Link: "#takeover", Do: "Give it to an agent"}
	case !h.ConfirmEnds.IsZero():
		return Standing{Text: h.Receiver + " has accepted: " + h.From + " has to confirm", Until: h.ConfirmEnds, Then: "the handoff is taken back, or completed if the sender is lost"}
	case !h.ApprovalEnds.IsZero():
		return Standing{Tone: "ask", Text: "Waits for approval", Until: h.ApprovalEnds, Then: "the task returns to its source"}
	case len(h.SeenBy) > 0:
		return Standing{Text: fmt.Sprintf("Offered to %s, seen by %s: not accepted yet", to, strings.Join(h.SeenBy, ", ")), Until: soonest(h.AckEnds, h.OfferEnds), Then: "it is offered again, or to another", Link: agentLink(h.SeenBy), Do: "Look at the agent"}
	case to != "":
		return Standing{Text: "Offered to " + to + ": not seen yet", Until: h.OfferEnds, Then: "it is offered to another, or goes to the dead letters", Link: agentLink(h.To), Do: "Look at the agent"}
	}
	return Standing{Text: "No receiver has it yet", Link: "#takeover", Do: "Give it to an agent"}
}

// waiting says which children a parent waits for.
func waiting(t client.Task) (Standing, bool) {
	if len(t.Children) == 0 {
		return Standing{}, false
	}
	group, open := t.Children[len(t.Children)-1].Group, []string{}
	all := 0
	for _, k := range t.Children {
		if k.Group == group {
			all++
			if !k.State.Final() {
				open = append(open, k.To)
			}
		}
	}
	if len(open) == 0 {
		return Standing{}, false
	}
	return Standing{
		Text: fmt.Sprintf("Waits for the results of %d of %d children, from %s", len(open), all, strings.Join(open, ", ")), Until: t.JoinBy, Then: "it goes on with the results that are in",
		Link: "#children", Do: "Look at them",
	}, true
}

// until says of a task that another depends on why it still does. Of one that has not ended, its state is on its page.
func until(s client.State) string {
	switch s {
	case client.Failed:
		return "has failed:"
	case client.Cancelled:
		return "was cancelled:"
	default:
		return "is not completed:"
	}
}

// Subject is what a legal hold or an erasure is on, as the page of a task or memory item names it.
func Subject(subject, task, memory string) string {
	switch subject {
	case "task/" + task:
		return "this task"
	case "memory/" + memory:
		return "this memory item"
	}
	return subject
}

// agentLink is the page of an agent, if there is just one.
func agentLink(names []string) string {
	if len(names) != 1 {
		return ""
	}
	return "/agents/" + names[0]
}

// soonest is the earlier of two times; zero is none.
func soonest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
