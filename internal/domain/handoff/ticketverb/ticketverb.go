package ticketverb

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Reader is who looks at a ticket.
type Reader struct {
	By     identity.Principal
	Serves []string // the desks of a person
	Agent  string   // the agent that the person is registered as; empty: none
}

// Of lists what a reader may do with the open ticket of a task now, in the order of [All].
func Of(t task.Task, r Reader, now time.Time) (verbs []Verb) {
	k := t.OpenTicket()
	if k == nil || !identity.May(r.By.Role, identity.ActOwn) {
		return nil
	}
	for _, verb := range All.Values() {
		c := command(t, k, r, verb)
		if c == nil {
			continue
		}
		if events, err := handoff.Decide(t, c, now); err == nil && len(events) > 0 {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// command is a verb with the least that it needs; nil where it has another name for this reader.
func command(t task.Task, k *task.Ticket, r Reader, verb Verb) handoff.Command {
	switch verb {
	case Answer:
		answer := "yes"
		if len(k.Options) > 0 {
			answer = k.Options[0]
		}
		return handoff.Answer{By: r.By, Serves: r.Serves, Ticket: k.N, Answer: answer}
	case Approve:
		return handoff.Approve{By: r.By, Handoff: k.Handoff}
	case Claim:
		sealed := event.Sealed{Digest: "sha256:", Parent: t.Envelope} // that the takeover would have
		return handoff.Claim{By: r.By, Serves: r.Serves, Ticket: k.N, Agent: r.Agent, Envelope: sealed}
	case Release:
		return handoff.Release{By: r.By, Epoch: t.Epoch, Ticket: k.N}
	case Deny, Withdraw:
		no := Denial(t, r, k.N, t.Epoch, "")
		if _, own := no.(handoff.WithdrawTicket); own == (verb == Withdraw) {
			return no
		}
	}
	return nil
}

// Denial is the command of a reader who says no to a ticket: who would go on with the task then takes the question or the task back.
func Denial(t task.Task, r Reader, ticket int, epoch uint64, detail string) handoff.Command {
	source := r.By.Agent() != "" && r.By.Agent() == t.Owner || t.Owner == "" && t.Requester == r.By.String()
	if source && t.AtDesk() != nil {
		return handoff.WithdrawTicket{By: r.By, Epoch: epoch, Ticket: ticket, Detail: detail}
	}
	return handoff.DenyTicket{By: r.By, Serves: r.Serves, Ticket: ticket, Detail: detail}
}
