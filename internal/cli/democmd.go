package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/demo"
	"github.com/trapezehq/trapeze/internal/cli/demo/report"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

const demoLong = `See Trapeze at work: four programs make a documentation report on the source of a Go module, each handing on to the
next. On the way one worker is killed, one turns its offer down, one handoff goes to the dead letters and is replayed, and one
result is refused and mended. Each gets what fits its context window; what is pinned in memory and what constrains the task
reaches everybody. At its end it asks the server what became of what was said.

PATH is a Go module's directory, by default the module that you are in; outside of one, a small module that the demo
writes for the purpose. It runs its own server on a free port and in a directory of its own, which is left behind.`

func (s *commands) demoCommand() *cobra.Command {
	cmd := s.Command("demo [PATH]", "See it work: four programs, four mishaps, one report", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			ctx, stop := interruptible(ctx)
			defer stop()
			o := demo.Options{Out: s.Stdout, Dir: s.Flags.DataDir}
			if s.Flags.JSON {
				o.Out = s.Stderr
			}
			var err error
			if o.Module, err = subject(args, o.Out); err != nil {
				return err
			}
			if o.Executable, err = os.Executable(); err != nil {
				return err
			}
			var where, dir string
			o.Serve = func(ctx context.Context, data string, ready func(url, file string)) error {
				dir = data
				return s.serve(ctx, ServeConfig{
					DataDir: data, Addr: "127.0.0.1:0", LogLevel: "error", LogFormat: "text", LogTo: s.Stderr, Version: shell.Version(),
					Ready: func(url, file string) { where = url; ready(url, file) },
				})
			}
			o.Trapeze = func(ctx context.Context, out io.Writer, args ...string) error {
				return s.again(ctx, out, append([]string{"--url", where, "--data-dir", dir}, args...))
			}
			out, err := demo.Run(ctx, o)
			if err != nil {
				return err
			}
			return s.Emit(out, func(*shell.Page) {})
		})
	cmd.Long = demoLong
	return cmd
}

// again runs a command of the same command line, as a person would who has only the data directory.
func (s *commands) again(ctx context.Context, out io.Writer, args []string) error {
	env := s.Env
	env.Stdout = out
	env.Getenv = func(name string) string {
		if len(name) > 8 && name[:8] == "TRAPEZE_" {
			return ""
		}
		return s.Getenv(name)
	}
	inner := &commands{shell.New(env), s.serve}
	root := inner.root()
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// subject is the module that the demo works on.
func subject(args []string, out io.Writer) (string, error) {
	dir := "."
	if len(args) == 1 {
		dir = args[0]
	}
	_, err := report.ModuleAt(dir)
	if err == nil {
		return dir, nil
	}
	if !errors.Is(err, report.ErrNoModule) || len(args) == 1 {
		return "", shell.Usagef("%s: %w; name the directory of a Go module", dir, err)
	}
	return demo.Sample(out)
}

func (s *commands) stageCommand() *cobra.Command {
	cmd := s.Command("demo-stage PROGRAM", "The demo's programs, as its workers run them", cobra.MinimumNArgs(1),
		func(ctx context.Context, args []string) error {
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			err = demo.Program{Executable: exe, Getenv: s.Getenv, Stdout: s.Stdout, Stderr: s.Stderr}.Run(ctx, args)
			return err
		})
	cmd.Hidden = true
	cmd.Flags().SetInterspersed(false)
	return cmd
}
