package task

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/handoff"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Command is the command group trapeze task.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("task", "Create, show, work on and end tasks",
		create(s), show(s), list(s), start(s), progress(s), heartbeat(s), stuck(s),
		gap(s), complete(s), fail(s),
		handoff.Cancel(s, "cancel ID", "Cancel a task with its children; with the ID of a handoff, only withdraw that"),
		constrain(s), lift(s), raiseBudget(s), annotate(s))
}

func start(s *shell.Shell) *cobra.Command {
	return s.ReceiptCall("start TASK", "Start to work on a pending task, as the agent that created it", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (client.Receipt, error) {
			r, err := c.Start(ctx, args[0])
			s.Hold(r.Task, r.Owner, r.Epoch)
			return r, err
		})
}

func stuck(s *shell.Shell) *cobra.Command {
	var in client.StuckInput
	cmd := s.TaskCall("stuck [TASK]", "Report that a task's owner is not making progress, and offer the task to others", func(ctx context.Context, c *client.Client, task string) error {
		r, err := c.Stuck(ctx, task, in)
		return s.EmitReceipt(r, err)
	})
	cmd.Long = `Report that the owner of a task is not making progress. The task's requester, the owner of a parent task, and operators can.

The owner's fallbacks, and then its escalation chain, are offered the task at once, with the last envelope and the progress notes.
Until one of them accepts, the owner can end that with progress or a result; a heartbeat is not enough.`
	cmd.Flags().StringVar(&in.Detail, "detail", "", "what shows that it is stuck")
	return cmd
}

func annotate(s *shell.Shell) *cobra.Command {
	return s.Command("annotate TASK ENTRY NOTE", "Add a note to an entry of the record, to correct it or to comment on it", cobra.ExactArgs(3),
		func(ctx context.Context, args []string) error {
			entry, err := strconv.ParseUint(args[1], 10, 64)
			if err != nil {
				return shell.Usagef("%q is not the position of an entry: trapeze audit show lists them", args[1])
			}
			if err := s.Texts(&args[2]); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			r, err := c.Annotate(ctx, args[0], client.AnnotateInput{Entry: entry, Note: args[2]})
			return s.EmitReceipt(r, err)
		})
}
