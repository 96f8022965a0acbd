package shell

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
)

// own is the task that this process works on, as a worker's child; zero for everybody else.
func (s *Shell) own() (task string, epoch uint64) {
	task = s.Getenv("TRAPEZE_TASK")
	epoch, err := strconv.ParseUint(s.Getenv("TRAPEZE_EPOCH"), 10, 64)
	if err != nil {
		return task, 0
	}
	return task, epoch
}

// OwnTask is the task that this process works on, as a worker's child; empty for everybody else.
func (s *Shell) OwnTask() string {
	task, _ := s.own()
	return task
}

// TaskArg is the task that a command is about: its first argument where it has more than rest, or else the task that
// this process works on.
func (s *Shell) TaskArg(args []string, rest int) (task string, others []string, err error) {
	if len(args) > rest {
		return args[0], args[1:], nil
	}
	task, _ = s.own()
	if task == "" && len(args) > 0 && strings.HasPrefix(args[0], "task_") {
		return "", nil, Usagef("%s: something is missing after the task", args[0])
	}
	if task == "" {
		return "", nil, Usagef("name the task (or set TRAPEZE_TASK)")
	}
	return task, args, nil
}

// TaskCall is a command that asks the server something of one task, the one it is given or the one that this process works on.
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

// EpochOf is the epoch to send with a change of a task: the one given, the one that this process works under, or the
// task's present one.
func (s *Shell) EpochOf(ctx context.Context, c *client.Client, task string, given uint64) (uint64, error) {
	if given != 0 {
		return given, nil
	}
	if own, epoch := s.own(); own == task && epoch != 0 {
		return epoch, nil
	}
	t, err := c.Task(ctx, task)
	return t.Epoch, err
}

// EpochFlag defines --epoch.
func EpochFlag(f *pflag.FlagSet, epoch *uint64) {
	f.Uint64Var(epoch, "epoch", 0, "the task's epoch as you know it (TRAPEZE_EPOCH; default: its present one)")
}
