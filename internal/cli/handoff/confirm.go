package handoff

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Confirm is the command trapeze confirm.
func Confirm(s *shell.Shell) *cobra.Command {
	var in client.ConfirmInput
	var content shell.ContentFlags
	cmd := s.ReceiptCall("confirm HANDOFF", "Release a task that was accepted, in a handoff with --confirm explicit", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (r client.Receipt, err error) {
			if in.Content, err = content.Read(ctx, s, c); err != nil {
				return r, err
			}
			task, _ := shell.TaskOf(args[0])
			if in.Epoch, err = s.EpochOf(ctx, c, task, in.Epoch); err != nil {
				return r, err
			}
			return c.Confirm(ctx, args[0], in)
		})
	content.Add(cmd.Flags())
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}
