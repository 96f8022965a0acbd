package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/demo"
	"github.com/trapezehq/trapeze/internal/cli/demo/report"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

const demoLong = `Watch Trapeze at work: four programs write a documentation report on the source of a Go module, and each hands the task to the
next. On the way one worker is killed, one rejects its offer, one handoff goes to the dead letters and is replayed, and one result is
refused and fixed. Each program gets what fits the context window of its agent. Pinned memory and constraints reach all of them. At the
end the demo shows from the record what each hop kept and dropped.

PATH is the directory of a Go module. The default is the current directory; if that is not a Go module, the demo writes a small one. The
demo runs its own server, on a free port and with a new data directory, which it does not delete.`

func (s *commands) demoCommand() *cobra.Command {
	var page bool
	cmd := s.Command("demo [PATH]", "Watch a task pass through four agents, with four failures on the way", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			ctx, stop := shell.Interruptible(ctx)
			defer stop()
			ctx, end := context.WithCancel(ctx)
			defer end()
			pipes := make(chan os.Signal, 1)
			signal.Notify(pipes, syscall.SIGPIPE) // a write fails then, and does not end this process before its programs
			defer signal.Stop(pipes)
			o := demo.Options{Out: s.Stdout, Dir: s.Flags.DataDir, Page: page, Stay: page && s.Terminal}
			if s.Flags.JSON {
				o.Out = s.Stderr
			}
			o.Out = watched{o.Out, end}
			var err error
			if o.Module, err = demoModule(args, o.Out); err != nil {
				return err
			}
			if o.Executable, err = os.Executable(); err != nil {
				return err
			}
			var where, dir string
			o.Serve = func(ctx context.Context, data string, ready func(url, file string)) error {
				dir = data
				release := func() {}
				defer func() { release() }()
				return s.serve(ctx, ServeConfig{
					DataDir: data, Addr: "127.0.0.1:0", LogLevel: "error", LogFormat: "text", LogTo: s.Stderr, Version: shell.Version(),
					Ready: func(url, file string) {
						where = url
						release = s.hold(ctx, data, url, "")
						ready(url, file)
					},
				})
			}
			o.Trapeze = func(ctx context.Context, out io.Writer, args ...string) error {
				return s.again(ctx, out, append([]string{"--url", where, "--data-dir", dir}, args...))
			}
			out, err := demo.Run(ctx, o)
			return s.Answer(out, err, func(*shell.Page) {})
		})
	cmd.Long = demoLong
	cmd.Flags().BoolVar(&page, "page", false, "open the page of the server in a browser while the demo runs; on a terminal it stays until Ctrl-C")
	return cmd
}

// watched is for an output that somebody reads: end is called when nobody does any more, as with demo | head.
type watched struct {
	io.Writer
	end func()
}

func (w watched) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if err != nil {
		w.end()
	}
	return n, err
}

// again runs another command in this process, with no settings but the data directory.
func (s *commands) again(ctx context.Context, out io.Writer, args []string) error {
	env := s.Env
	env.Stdout, env.Terminal = out, false
	env.Getenv = func(name string) string {
		if len(name) > 8 && name[:8] == "TRAPEZE_" {
			return ""
		}
		return s.Getenv(name)
	}
	inner := &commands{shell.New(env), s.serve, s.openRecord, s.copier}
	root := inner.root()
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// demoModule is the directory of the module that the demo works on.
func demoModule(args []string, out io.Writer) (string, error) {
	dir := "."
	if len(args) == 1 {
		dir = args[0]
	}
	_, err := report.ModuleAt(dir)
	if err == nil {
		return dir, nil
	}
	if !errors.Is(err, report.ErrNoModule) || len(args) == 1 {
		return "", shell.Usagef("%s: %w: name the directory of a Go module", dir, err)
	}
	return demo.Sample(out)
}

func (s *commands) demoProgramCommand() *cobra.Command {
	cmd := s.Command("demo-stage PROGRAM", "Run one of the demo's programs, as its workers do", cobra.MinimumNArgs(1),
		func(ctx context.Context, args []string) error {
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			return demo.Program{Executable: exe, Getenv: s.Getenv, Stdout: s.Stdout, Stderr: s.Stderr}.Run(ctx, args)
		})
	cmd.Hidden = true
	cmd.Flags().SetInterspersed(false)
	return cmd
}
