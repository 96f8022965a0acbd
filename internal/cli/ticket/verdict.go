package ticket

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func approve(s *shell.Shell) *cobra.Command {
	var in client.ApproveInput
	cmd := s.Call("approve ID", "Say yes to a supervised handoff, or to an ask to take your task over", cobra.ExactArgs(1),
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
	cmd.Long = `Say yes: to a supervised handoff, by its id or its ticket's, or to an ask to take your task over.`
	whyFlag(cmd.Flags(), &in.Detail)
	cmd.Flags().StringVar(&in.Digest, "digest", "", "of the envelope that you looked at; refused if the handoff carries another")
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return example(cmd, "trapeze approve task_….h1 --digest sha256:…")
}

func deny(s *shell.Shell) *cobra.Command {
	var in client.DenyInput
	cmd := s.Call("deny ID", "Say no to a supervised handoff, to a ticket, or to an ask to take your task over", cobra.ExactArgs(1),
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
	cmd.Long = `Say no: to a supervised handoff, by its id or its ticket's; to a question, which then has no answer; to a task that your desk
does not take over; or to an ask to take your task over. A ticket of your own is taken back.`
	whyFlag(cmd.Flags(), &in.Detail)
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return example(cmd, "trapeze deny task_….k1 --why 'nobody knows'")
}

// epochOf is the epoch that the answer to an ask carries, or what is said of a ticket; a handoff's approval carries none.
// Whoever has no part in the task of a ticket knows no epoch, and needs none.
func epochOf(ctx context.Context, s *shell.Shell, c *client.Client, id string, given uint64) (uint64, error) {
	task, part, _ := strings.Cut(id, ".")
	if part == "" || part[0] == 'h' {
		return given, nil
	}
	epoch, err := s.EpochOf(ctx, c, task, given)
	if part[0] == 'k' && errors.Is(err, client.NotFound) {
		return given, nil
	}
	return epoch, err
}
