package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// ticketNow is the state of a ticket.
type ticketNow struct {
	ID      string   `json:"id"`
	Task    string   `json:"task"`
	Kind    string   `json:"kind"`
	State   string   `json:"state"`
	Asked   string   `json:"question,omitempty"`
	Options []string `json:"options,omitempty"`
	Outcome string   `json:"outcome,omitempty"`
	Answer  string   `json:"answer,omitempty"`
	By      string   `json:"by,omitempty"`
}

func ticketOf(k client.Ticket) ticketNow {
	return ticketNow{k.ID, k.Task, k.Kind, k.State, k.Question, k.Options, k.Outcome, k.Answer, k.ClosedBy}
}

// mostTickets is the maximum number of tickets that one answer lists.
const mostTickets = 30

// closing names the tool that closes each kind of ticket.
var closing = map[string]string{"question": "decide: answer", "approval": "decide: approve or deny", "takeover": "decide: claim"}

// tickets lists the open tickets that the caller opened or may answer, oldest first.
func (c *call) tickets(ctx context.Context, out *standing, b *strings.Builder) error {
	page, err := c.Tickets(ctx, client.TicketFilter{Limit: mostTickets})
	if err != nil {
		return err
	}
	for _, k := range page.Tickets {
		out.Tickets = append(out.Tickets, ticketOf(k))
		fmt.Fprintf(b, "- %s %s by %s for %s, %s [%s]: %s", k.Kind, k.ID, k.By, asking(k), k.State, closing[k.Kind], clip(oneLine(cmp.Or(k.Question, k.Intent)), 200))
		if k.Question != "" {
			b.WriteString(" (task: " + clip(oneLine(k.Intent), 100) + ")")
		}
		b.WriteString("\n")
	}
	if len(page.Tickets) > 0 {
		b.WriteString("status with the id of a ticket shows all of its question.\n")
	}
	if page.Next != "" {
		out.More = true
		b.WriteString("More tickets, opened later, are not listed.\n")
	}
	return nil
}

// asking names the receiver of a ticket.
func asking(k client.Ticket) string { return cmp.Or(k.To, "the desk "+k.Desk) }

// ticketText describes the state of a ticket.
func ticketText(k client.Ticket) string {
	s := "Ticket " + k.ID + " (" + k.Kind + " for " + asking(k) + ") is " + k.State
	if k.Open() {
		s += ", due " + k.Due.Format(time.RFC3339) + "."
		if k.Question != "" {
			s += "\n" + quoted(strings.TrimSpace(k.Question))
		}
		if len(k.Options) > 0 {
			s += "\nAllowed answers: " + oneLine(strings.Join(k.Options, "; "))
		}
		return s
	}
	s += ": " + k.Outcome
	if k.ClosedBy != "" {
		s += " by " + k.ClosedBy
	}
	for _, text := range []string{k.Answer, k.Detail} {
		if text != "" {
			s += "\n" + quoted(strings.TrimSpace(text))
		}
	}
	return s
}
