package notify

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Ticket is the message that tells people about a ticket: that it was opened, is due soon, or was escalated to others. Text of agents in it is
// data.
type Ticket struct {
	ID        string           `json:"id"`    // of the occurrence: a notice that is sent again has the same id
	Event     string           `json:"event"` // approval-asked, ticket-opened, ticket-reminded or ticket-escalated
	Workspace string           `json:"workspace"`
	Ticket    string           `json:"ticket"`
	Task      string           `json:"task"`
	Kind      event.TicketKind `json:"kind"`
	Desk      string           `json:"desk"`
	To        string           `json:"to,omitempty"` // the one agent or person asked
	From      string           `json:"from"`
	Question  string           `json:"question,omitempty"` // the first 500 bytes
	Options   []string         `json:"options,omitempty"`
	Intent    string           `json:"intent"` // the first 500 bytes
	Priority  event.Priority   `json:"priority"`
	Reminder  int              `json:"reminder,omitempty"`
	Due       time.Time        `json:"due"`
}

// Key implements [Message].
func (n Ticket) Key() string { return n.ID }

// Text implements [Message].
func (n Ticket) Text() (title, body string) {
	return "Ticket " + n.Ticket + " waits for " + n.Desk, fmt.Sprintf("%s, until %s: trapeze ticket list", n.Event, n.Due.UTC().Format(time.RFC3339))
}

func (n Ticket) log(ctx context.Context, to *slog.Logger) {
	task, _, _ := strings.Cut(n.Ticket, ".")
	to.InfoContext(ctx, "people are asked", "event", n.Event, "workspace", n.Workspace, "ticket", n.Ticket, "kind", n.Kind, "desk", n.Desk,
		"task", task, "to", n.To, "from", n.From, "due", n.Due) // the question is content: trapeze ticket show has it
}
