package ticket

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Deny is the command trapeze deny, and trapeze ticket deny.
func Deny(s *shell.Shell) *cobra.Command {
	var in client.DenyInput
	cmd := s.Call("deny ID", "Deny a supervised handoff, a ticket, or a request to take over your task", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (err error) {
			if err := s.Texts(&in.Detail); err != nil {
				return err
			}
			if in.Epoch, err = epochOf(ctx, s, c, args[0], in.Epoch); err != nil {
				return err
			}
			r, err := c.Deny(ctx, args[0], in)
			return s.EmitReceipt(r, err)
		})
	cmd.Long = `Deny a supervised handoff, by its ID or the ID of its ticket; a question, which then has no answer; a task that your desk is asked
to take over; or a request to take over your task. Denying a ticket that you opened withdraws it.`
	shell.WhyFlag(cmd.Flags(), &in.Detail)
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return shell.Example(cmd, "trapeze deny task_….k1 --why 'nobody knows'")
}
