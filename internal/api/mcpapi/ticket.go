package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
)

// mostTickets is the maximum number of tickets that one answer lists.
const mostTickets = 30

// tickets lists the open tickets that the caller opened or may answer, oldest first.
func (c *call) tickets(ctx context.Context, out *standing, b *strings.Builder) error {
	page, err := c.Tickets(ctx, client.TicketFilter{Limit: mostTickets})
	if err != nil {
		return err
	}
	for _, k := range page.Tickets {
		out.Tickets = append(out.Tickets, show.TicketOf(k))
		fmt.Fprintf(b, "- %s %s by %s for %s, %s%s: %s", k.Kind, k.ID, k.By, show.Receiver(k), k.State, c.Say(show.Closes(k)), show.Line(show.Clip(cmp.Or(k.Question, k.Intent), 200)))
		if k.Question != "" {
			b.WriteString(" (task: " + show.Line(show.Clip(k.Intent, 100)) + ")")
		}
		b.WriteString("\n")
	}
	if len(page.Tickets) > 0 {
		b.WriteString(c.Say("{status} with the id of a ticket shows all of its question.\n"))
	}
	if page.Next != "" {
		out.More = true
		b.WriteString("More tickets, opened later, are not listed.\n")
	}
	return nil
}
