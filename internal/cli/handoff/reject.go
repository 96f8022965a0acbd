package handoff

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Reject is the command trapeze reject.
func Reject(s *shell.Shell) *cobra.Command {
	var in client.RejectInput
	var reason string
	cmd := s.ReceiptCall("reject HANDOFF", "Reject an offer: it goes to the next candidate, or back to the sender", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (client.Receipt, error) {
			in.Reason = client.Rejection(reason)
			if kind := client.Rejection(in.Detail); kind != in.Reason && slices.Contains(client.Rejections(), kind) {
				return client.Receipt{}, shell.Hinted(shell.Usagef("%s is a reason by its name, and --why takes words", kind), "name it with: --reason "+in.Detail)
			}
			if err := s.Texts(&in.Detail); err != nil {
				return client.Receipt{}, err
			}
			return c.Reject(ctx, args[0], in)
		})
	f := cmd.Flags()
	shell.Choice(f, &reason, "reason", "refused", "%s", client.Rejections())
	f.StringSliceVar(&in.Missing, "missing", nil, "field that you need, with --reason missing_context (repeatable)")
	shell.WhyFlag(f, &in.Detail)
	f.IntVar(&in.Offer, "offer", 0, "number of the offer (default: the newest)")
	return cmd
}
