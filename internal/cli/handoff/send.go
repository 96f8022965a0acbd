package handoff

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/usage"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Send is the command trapeze send.
//
// WaitForEnd, for --wait, waits for the end of a task and prints the task.
func Send(s *shell.Shell, waitForEnd func(ctx context.Context, s *shell.Shell, c *client.Client, task string, wait time.Duration) error) *cobra.Command {
	var flags SendFlags
	var wait shell.Duration
	cmd := s.OwnerDo("send [TASK]", "Hand a task off", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) error {
			in, err := flags.Input(ctx, s)
			if err != nil {
				return err
			}
			in.Epoch = epoch
			if err := flags.Attach(ctx, s, c, &in.Content); err != nil {
				return err
			}
			r, err := c.Send(ctx, task, in)
			s.Remember(r.Task)
			if err == nil && r.Owner != "" {
				if who := s.Unnamed(ctx, c); who != "" {
					s.Notef("%s did this, not the owner %s, since no agent was named; to act as the owner, add: --agent %s", who, r.Owner, shellword.Quote(r.Owner))
				}
			}
			if err == nil && wait > 0 {
				return waitForEnd(ctx, s, c, r.Task, time.Duration(wait))
			}
			return s.EmitReceipt(r, err)
		})
	cmd.Long = `Hand a task off: to agents by name, to an agent with a capability, to the subscribers of a channel, to the receiver that the
policy chooses (--to auto), to people (--to human:DESK), or to the next agent on the task's route.

The command returns at once. You own the task until a receiver has accepted it. If none does, it goes to a fallback, back to you,
or to the dead letters. With --wait it waits until the task is completed, failed, cancelled or in the dead letters, and shows it; standard error says who has it
meanwhile, and what it waits for. The exit code is 0 if it was completed, 1 if it ended otherwise or is in the dead letters, and 6 if it has not ended by then. If the
call is refused, it is that of the error: see trapeze help exit-codes.

In a program that trapeze work runs, the task can be omitted: trapeze send --to reviewer

With --git the state of a working tree is sent along: its commit, which the receiver must be able to fetch, and a patch of the
uncommitted changes, new files included. The receiver applies it with trapeze accept --git.`
	flags.Add(cmd.Flags())
	flags.addOwn(cmd.Flags())
	shell.WaitFlag(cmd.Flags(), &wait)
	usage.GroupFlags(cmd, FlagGroups("to capability wait kind ask state fact artifact git constraint"))
	return cmd
}
