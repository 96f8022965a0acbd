package ticket

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Approve is the command trapeze approve, and trapeze ticket approve.
func Approve(s *shell.Shell) *cobra.Command {
	var in client.ApproveInput
	cmd := s.Call("approve ID", "Approve a supervised handoff, or a request to take over your task", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (err error) {
			if err := s.Texts(&in.Detail); err != nil {
				return err
			}
			if in.Epoch, err = epochOf(ctx, s, c, args[0], in.Epoch); err != nil {
				return err
			}
			r, err := c.Approve(ctx, args[0], in)
			return s.EmitReceipt(r, err)
		})
	cmd.Long = `Approve a supervised handoff, by its ID or the ID of its ticket, or a request to take over your task.`
	shell.WhyFlag(cmd.Flags(), &in.Detail)
	cmd.Flags().StringVar(&in.Digest, "digest", "", "digest of the envelope that you reviewed; refused if the handoff has another")
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return shell.Example(cmd, "trapeze approve task_….h1 --digest sha256:…")
}
