package shell

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/last"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// EpochOf returns the epoch to send with a change of a task: the one given, or that of the environment, which is of the task that this process works
// on or, if it works on none, of any; or that under which the caller was given the task, if it owns the task; or else the current one.
func (s *Shell) EpochOf(ctx context.Context, c *client.Client, task string, given uint64) (uint64, error) {
	if given != 0 {
		return given, nil
	}
	if text := s.Getenv("TRAPEZE_EPOCH"); text != "" && (s.OwnTask() == "" || s.OwnTask() == task) {
		epoch, err := strconv.ParseUint(text, 10, 64)
		if err != nil || epoch == 0 {
			return 0, Hinted(Usagef("TRAPEZE_EPOCH: %q is not an epoch, which is a number from 1", text), "unset it to use the current epoch, or give one with --epoch")
		}
		return epoch, nil
	}
	t, err := c.Task(ctx, task)
	if err != nil {
		return 0, err
	}
	dir, caller := s.memory()
	if held := last.Held(dir, caller, task); held.N != 0 && held.Agent == t.Owner && held.N != t.Epoch {
		s.moved = fmt.Sprintf("%s has the task under epoch %d, which it got over another protocol, with another token or on another machine, while here it had it under %d: stop working on it here. Only if you are to continue it here, "+
			"read its context again with %s, then repeat the command with --epoch %d", OneLine(t.Owner), t.Epoch, held.N, shellword.Command("trapeze envelope render", task), t.Epoch)
		return held.N, nil // which is refused, unless the command is repeated with its key
	}
	return t.Epoch, nil
}

// EpochFlag defines --epoch.
func EpochFlag(f *pflag.FlagSet, epoch *uint64) {
	f.Uint64Var(epoch, "epoch", 0, "the task's epoch that you expect; refused if it has changed (TRAPEZE_EPOCH; default: the one under which the agent got the task with this command line on this machine, in whatever session, or else the current one)")
}

// Hold remembers under which epoch the caller was given a task. Without a directory to keep it in, commands use the current one.
func (s *Shell) Hold(task, owner string, epoch uint64) {
	if dir, caller := s.memory(); dir != "" && owner != "" && epoch != 0 {
		_ = last.Hold(dir, caller, task, last.Epoch{N: epoch, Agent: owner})
	}
}

// Showed remembers under which epoch the caller owns a task that it was shown. What it was given before counts: who looks at a task does not thereby
// own what it has accepted elsewhere.
func (s *Shell) Showed(t client.Task) {
	if dir, caller := s.memory(); t.Owner == s.Chosen() && last.Held(dir, caller, t.ID).N == 0 {
		s.Hold(t.ID, t.Owner, t.Epoch)
	}
}

// AskedFor forgets under which epoch the caller had a task that it may be given again.
func (s *Shell) AskedFor(task string) {
	dir, caller := s.memory()
	last.Drop(dir, caller, task)
}

// TookOver is [Shell.AskedFor] for the answer to a takeover, which makes the caller the owner at once if the owner was lost.
func (s *Shell) TookOver(r client.Receipt) {
	if s.AskedFor(r.Task); r.Owner == s.Chosen() {
		s.Hold(r.Task, r.Owner, r.Epoch)
	}
}

// goOn remembers the epoch under which the caller goes on with a task that it was given under another.
func (s *Shell) goOn(task string, epoch uint64) {
	dir, caller := s.memory()
	s.Hold(task, last.Held(dir, caller, task).Agent, epoch)
}
