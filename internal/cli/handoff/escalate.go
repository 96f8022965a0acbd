package handoff

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Escalate is the command trapeze escalate.
func Escalate(s *shell.Shell) *cobra.Command {
	var in client.EscalateInput
	var content shell.ContentFlags
	cmd := s.OwnerCall("escalate [TASK]", "Hand a task to the next level of its escalation chain", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) (r client.Receipt, err error) {
			in.Epoch = epoch
			if err := s.Texts(&in.Detail); err != nil {
				return r, err
			}
			if in.Content, err = content.Read(ctx, s, c); err != nil {
				return r, err
			}
			return c.Escalate(ctx, task, in)
		})
	cmd.Flags().StringVar(&in.To, "to", "", "an agent, or human:DESK (default: the next level of the escalation chain)")
	detailFlag(cmd, &in.Detail)
	content.Add(cmd.Flags())
	return cmd
}
