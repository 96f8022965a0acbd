package shell

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
)

// OwnTask returns the task that this process works on as the program of trapeze work; empty outside of one.
func (s *Shell) OwnTask() string { return s.Getenv("TRAPEZE_TASK") }

// TaskArg returns the task that a command is about: the first argument if there are more than rest, or else the task that this
// process works on.
func (s *Shell) TaskArg(args []string, rest int) (task string, others []string, err error) {
	if len(args) > rest {
		return args[0], args[1:], nil
	}
	task = s.OwnTask()
	if task == "" && len(args) > 0 && (strings.HasPrefix(args[0], "task_") || args[0] == LastTask) {
		return "", nil, Usagef("%s: an argument is missing after the task", args[0])
	}
	if task == "" {
		return "", nil, Usagef("name the task, or set TRAPEZE_TASK; %s is the task that you created or handed off last", LastTask)
	}
	return task, args, nil
}

// TaskCall makes a command about one task: its argument, or the task that this process works on.
func (s *Shell) TaskCall(use, short string, run func(ctx context.Context, c *client.Client, task string) error) *cobra.Command {
	return s.Command(use, short, cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
		task, _, err := s.TaskArg(args, 0)
		if err != nil {
			return err
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		return run(ctx, c, task)
	})
}

// OwnerCall makes a command that changes a task as its owner, with up to rest arguments after the task. Task and epoch default to
// those that this process works on; texts may be @FILE or -.
func (s *Shell) OwnerCall(use, short string, rest int, args cobra.PositionalArgs,
	run func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) (client.Receipt, error),
) *cobra.Command {
	return s.OwnerDo(use, short, rest, args, func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) error {
		r, err := run(ctx, c, task, epoch, args)
		return s.EmitReceipt(r, err)
	})
}

// OwnerDo is [Shell.OwnerCall] for a command that prints its answer itself.
func (s *Shell) OwnerDo(use, short string, rest int, args cobra.PositionalArgs,
	run func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) error,
) *cobra.Command {
	var epoch uint64
	cmd := s.Command(use, short, args, func(ctx context.Context, args []string) error {
		task, others, err := s.TaskArg(args, rest)
		if err != nil {
			return err
		}
		for i := range others {
			if err := s.Texts(&others[i]); err != nil {
				return err
			}
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		e, err := s.EpochOf(ctx, c, task, epoch)
		if err != nil {
			return err
		}
		err = run(ctx, c, task, e, others)
		if err == nil && epoch != 0 {
			s.goOn(task, epoch)
		}
		return err
	})
	EpochFlag(cmd.Flags(), &epoch)
	return cmd
}

// TaskOf is the task that the ID of a handoff, a request to take over or a share belongs to, and whether the ID is that of a
// handoff.
func TaskOf(id string) (task string, isHandoff bool) {
	task, part, _ := strings.Cut(id, ".")
	return task, strings.HasPrefix(part, "h")
}

// WhyFlag defines --why, the caller's own reason; what the receiver of a handoff is told is --detail.
func WhyFlag(f *pflag.FlagSet, why *string) {
	f.StringVar(why, "why", "", "reason, in words (text, @FILE or -)")
}
