package ticket

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Approve is the command trapeze approve, and trapeze ticket approve.
func Approve(s *shell.Shell) *cobra.Command {
	var digest string
	cmd := decision(s, "approve ID", "Approve a supervised handoff, or a request to take over your task",
		func(ctx context.Context, c *client.Client, id, why string, epoch uint64) (client.Receipt, error) {
			return c.Approve(ctx, id, client.ApproveInput{Epoch: epoch, Detail: why, Digest: digest})
		})
	cmd.Long = `Approve a supervised handoff, by its ID or the ID of its ticket, or a request to take over your task.`
	cmd.Flags().StringVar(&digest, "digest", "", "digest of the envelope that you reviewed; refused if the handoff has another")
	return shell.Example(cmd, "trapeze approve task_….h1 --digest sha256:…")
}
