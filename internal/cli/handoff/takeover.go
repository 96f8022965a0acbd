package handoff

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Takeover is the command trapeze takeover.
func Takeover(s *shell.Shell) *cobra.Command {
	var in client.TakeoverInput
	var content shell.ContentFlags
	cmd := s.ReceiptCall("takeover TASK", "Ask the owner of a task to hand it over to you", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (r client.Receipt, err error) {
			if err := s.Texts(&in.Detail); err != nil {
				return r, err
			}
			if in.Content, err = content.Read(ctx, s, c); err != nil {
				return r, err
			}
			r, err = c.Takeover(ctx, args[0], in)
			if err == nil {
				s.TookOver(r)
			}
			return r, err
		})
	cmd.Long = `Ask the owner of a task to hand it over to you. An operator takes the task from its owner and offers it to --to AGENT, with what
the flags of the content say: an --ask in place of one that is too long for it, or --question none.`
	cmd.Flags().StringVar(&in.To, "to", "", "for operators: agent to offer the task to")
	cmd.Flags().StringVar(&in.From, "from", "", "its owner as you know it: refused if another agent owns it by now")
	detailFlag(cmd, &in.Detail)
	content.Add(cmd.Flags())
	return cmd
}
