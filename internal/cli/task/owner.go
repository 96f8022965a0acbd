package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func usageFlags(cmd *cobra.Command, u *client.Spend) {
	cmd.Flags().Int64Var(&u.Tokens, "tokens", 0, "tokens used since the last report")
	cmd.Flags().Int64Var(&u.Cost, "cost", 0, "cost since the last report, in millionths of the currency")
}

func progress(s *shell.Shell) *cobra.Command {
	var used client.Spend
	cmd := s.OwnerCall("progress [TASK] NOTE", "Report progress, and renew the lease", 1, cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) (client.Receipt, error) {
			return c.Progress(ctx, task, client.ProgressInput{Epoch: epoch, Note: args[0], Usage: used})
		})
	usageFlags(cmd, &used)
	return cmd
}

func heartbeat(s *shell.Shell) *cobra.Command {
	var used client.Spend
	cmd := s.OwnerCall("heartbeat [TASK]", "Renew the lease, and report usage without progress", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) (client.Receipt, error) {
			if used != (client.Spend{}) {
				return c.Progress(ctx, task, client.ProgressInput{Epoch: epoch, Usage: used})
			}
			return c.Heartbeat(ctx, task, epoch)
		})
	usageFlags(cmd, &used)
	return cmd
}

func gap(s *shell.Shell) *cobra.Command {
	var in client.GapInput
	cmd := s.OwnerCall("gap [TASK] --missing WHAT", "Record that the context lacks something, and work on without it", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) (client.Receipt, error) {
			in.Epoch = epoch
			if err := s.Texts(&in.Detail); err != nil {
				return client.Receipt{}, err
			}
			return c.ReportGap(ctx, task, in)
		})
	cmd.Flags().StringSliceVar(&in.Missing, "missing", nil, "what is missing (repeatable)")
	shell.WhyFlag(cmd.Flags(), &in.Detail)
	usageFlags(cmd, &in.Usage)
	return cmd
}

// resultFlags are the flags of a task's result.
type resultFlags struct{ text, data string }

func (r *resultFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.text, "result", "", "result (text, @FILE or -)")
	cmd.Flags().StringVar(&r.data, "data", "", "result (JSON, @FILE or -)")
}

func (r *resultFlags) result(s *shell.Shell) (out client.Result, err error) {
	if out.Text, err = s.Text(r.text); err != nil {
		return out, err
	}
	out.Data, err = s.Document("--data", r.data)
	return out, err
}

func complete(s *shell.Shell) *cobra.Command {
	var in client.CompleteInput
	var result resultFlags
	cmd := s.OwnerCall("complete [TASK]", "Complete a task with its result", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) (_ client.Receipt, err error) {
			in.Epoch = epoch
			if in.Result, err = result.result(s); err != nil {
				return client.Receipt{}, err
			}
			return c.Complete(ctx, task, in)
		})
	result.add(cmd)
	usageFlags(cmd, &in.Usage)
	return cmd
}

func fail(s *shell.Shell) *cobra.Command {
	var in client.FailInput
	var result resultFlags
	cmd := s.OwnerCall("fail [TASK] WHY", "End a task as failed", 1, cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) (_ client.Receipt, err error) {
			in.Epoch, in.Detail = epoch, args[0]
			if in.Result, err = result.result(s); err != nil {
				return client.Receipt{}, err
			}
			return c.Fail(ctx, task, in)
		})
	result.add(cmd)
	usageFlags(cmd, &in.Usage)
	return cmd
}
