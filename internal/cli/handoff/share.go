package handoff

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Share is the command trapeze share.
func Share(s *shell.Shell) *cobra.Command {
	var in client.ShareInput
	var content shell.ContentFlags
	cmd := s.OwnerCall("share [TASK] --to AGENT", "Send a task's context to another agent, and keep the task", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) (r client.Receipt, err error) {
			if in.To == "" {
				return r, shell.Usagef("name the receiver with --to AGENT")
			}
			in.Epoch = epoch
			if err := s.Texts(&in.Detail); err != nil {
				return r, err
			}
			if in.Content, err = content.Read(ctx, s, c); err != nil {
				return r, err
			}
			return c.Share(ctx, task, in)
		})
	cmd.Flags().StringVar(&in.To, "to", "", "agent that receives the context")
	detailFlag(cmd, &in.Detail)
	shell.PackFlags(cmd.Flags(), &in.Pack)
	content.Add(cmd.Flags())
	return cmd
}

// detailFlag defines --detail.
func detailFlag(cmd *cobra.Command, detail *string) {
	cmd.Flags().StringVar(detail, "detail", "", "reason, shown to the receiver (text, @FILE or -)")
}
