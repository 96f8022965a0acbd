package handoff

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Send is the command trapeze send.
func Send(s *shell.Shell) *cobra.Command {
	var flags SendFlags
	cmd := s.OwnerCall("send [TASK]", "Hand a task off", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) (client.Receipt, error) {
			in, err := flags.Input(ctx, s)
			if err != nil {
				return client.Receipt{}, err
			}
			in.Epoch = epoch
			if err := flags.Attach(ctx, s, c, &in.Content); err != nil {
				return client.Receipt{}, err
			}
			r, err := c.Send(ctx, task, in)
			if err == nil && r.Owner != "" {
				if who := s.Unnamed(ctx, c); who != "" {
					s.Notef("%s did this, not the owner %s, since no agent was named; to act as the owner, add: --agent %s", who, r.Owner, shellword.Quote(r.Owner))
				}
			}
			return r, err
		})
	cmd.Long = `Hand a task off: to agents by name, to an agent with a capability, to the subscribers of a channel, to the receiver that the
policy chooses (--to auto), to people (--to human:DESK), or to the next agent on the task's route.

The command returns at once. You own the task until a receiver has accepted it. If none does, it goes to a fallback, back to you,
or to the dead letters.

In a program that trapeze work runs, the task can be omitted: trapeze send --to reviewer

With --git the state of a working tree is sent along: its commit, which the receiver must be able to fetch, and a patch of the
uncommitted changes, new files included. The receiver applies it with trapeze accept --git.`
	flags.Add(cmd.Flags())
	flags.addOwn(cmd.Flags())
	shell.GroupFlags(cmd, FlagGroups("to capability kind ask state fact artifact git constraint reason"))
	return cmd
}
