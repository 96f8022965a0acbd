package handoff

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Cancel is a command that cancels a task with its children, or withdraws a handoff if its argument is the id of one. It is both
// trapeze task cancel and trapeze handoff withdraw, whose argument is always a handoff.
func Cancel(s *shell.Shell, use, short string) *cobra.Command {
	var in client.CancelInput
	cmd := s.ReceiptCall(use, short, cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (r client.Receipt, err error) {
			if err := s.Texts(&in.Detail); err != nil {
				return r, err
			}
			task, isHandoff := shell.TaskOf(args[0])
			if !isHandoff {
				return c.Cancel(ctx, args[0], in)
			}
			if in.Epoch, err = s.EpochOf(ctx, c, task, in.Epoch); err != nil {
				return r, err
			}
			return c.Withdraw(ctx, args[0], in)
		})
	shell.WhyFlag(cmd.Flags(), &in.Detail)
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}
