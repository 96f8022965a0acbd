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

// Check returns an error if a program cannot be found.
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
	env    []string // added to the worker's environment, without its TRAPEZE_ variables
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	grace  time.Duration // from SIGTERM to SIGKILL

	scratch *scratch // of the worker; nil: of none
}

// run runs the program until it exits. When ctx ends, its process group gets SIGTERM, and SIGKILL after the grace. It returns the exit code,
// or -1 if a signal ended the program. An error means that it could not be started.
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
	cmd.WaitDelay = p.grace + time.Second // a grandchild may keep the pipes open
	ownGroup(cmd)
	var last *time.Timer
	cmd.Cancel = func() error {
		last = time.AfterFunc(p.grace, func() { killGroup(cmd.Process) })
		return endGroup(cmd.Process)
	}
	err := cmd.Start()
	if err == nil {
		done := p.scratch.note(cmd.Process.Pid, p.env)
		err = cmd.Wait()
		done()
	}
	if last != nil {
		last.Stop()
	}
	if cmd.Process != nil {
		killGroup(cmd.Process) // processes that it left behind
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

// cleanEnv omits the variables that the worker sets for the program, or that the program must not see.
func cleanEnv(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, v := range env {
		if !strings.HasPrefix(v, "TRAPEZE_") {
			kept = append(kept, v)
		}
	}
	return kept
}
