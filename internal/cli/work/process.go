package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Check looks the programs up, the way they are when they are run.
func (o Options) Check() error {
	if len(o.Command) == 0 {
		return errors.New("there is no program to run")
	}
	if _, err := exec.LookPath(o.Command[0]); err != nil {
		return fmt.Errorf("the program cannot be run: %w", err)
	}
	if len(o.Preview) > 0 {
		if _, err := exec.LookPath(o.Preview[0]); err != nil {
			return fmt.Errorf("the preview cannot be run: %w", err)
		}
	}
	return nil
}

// program is one run of a program, in a process group of its own.
type program struct {
	args   []string
	env    []string // beside the worker's environment, without its TRAPEZE_ variables
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	grace  time.Duration // from the polite signal to the other one
}

// run runs the program until it ends, or ctx does: then the group is asked to end, and after the grace made to. It
// returns the exit code, -1 if a signal ended it; an error means that it could not be run at all.
func (p program) run(ctx context.Context) (code int, err error) {
	type outcome struct {
		code int
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		// On Linux the program dies with the thread that started it: this one lives as long as the program does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		code, err := p.wait(ctx)
		done <- outcome{code, err}
	}()
	o := <-done
	return o.code, o.err
}

func (p program) wait(ctx context.Context) (int, error) {
	cmd := exec.CommandContext(ctx, p.args[0], p.args[1:]...) //nolint:gosec // running it is the point
	cmd.Env = append(cleanEnv(os.Environ()), p.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.stdin, p.stdout, p.stderr
	cmd.WaitDelay = p.grace + time.Second // a grandchild that keeps the pipes open does not hold the job for ever
	ownGroup(cmd)
	var last *time.Timer
	cmd.Cancel = func() error {
		last = time.AfterFunc(p.grace, func() { killGroup(cmd.Process) })
		return endGroup(cmd.Process)
	}
	err := cmd.Run()
	if last != nil {
		last.Stop()
	}
	if cmd.Process != nil {
		killGroup(cmd.Process) // what it left behind
	}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	case cmd.ProcessState != nil:
		return cmd.ProcessState.ExitCode(), nil
	}
	return -1, err
}

// cleanEnv leaves out what the program is to get anew, or not at all.
func cleanEnv(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, v := range env {
		if !strings.HasPrefix(v, "TRAPEZE_") {
			kept = append(kept, v)
		}
	}
	return kept
}
