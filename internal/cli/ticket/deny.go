package ticket

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Deny is the command trapeze deny, and trapeze ticket deny.
func Deny(s *shell.Shell) *cobra.Command {
	cmd := decision(s, "deny ID", "Deny a supervised handoff, a ticket, or a request to take over your task",
		func(ctx context.Context, c *client.Client, id, why string, epoch uint64) (client.Receipt, error) {
			return c.Deny(ctx, id, client.DenyInput{Epoch: epoch, Detail: why})
		})
	cmd.Long = `Deny a supervised handoff, by its ID or the ID of its ticket; a question, which then has no answer; a task that your desk is asked
to take over; or a request to take over your task. Denying a ticket that you opened withdraws it.`
	return shell.Example(cmd, "trapeze deny task_….k1 --why 'nobody knows'")
}
