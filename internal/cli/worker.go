package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/work"
)

func (s *commands) workCommand() *cobra.Command {
	var o work.Options
	var spec client.AgentSpec
	var preview string
	var previewArgs []string
	var register bool
	cmd := s.Command("work --agent NAME [flags] -- CMD ARGS…", "Make any program a receiver of handoffs", cobra.MinimumNArgs(1),
		func(ctx context.Context, args []string) error {
			o.Agent, o.Command, o.Stderr = s.agentName(), args, s.Stderr
			if o.Agent == "" {
				return shell.Usagef("say which agent the program is: --agent NAME")
			}
			if preview != "" {
				o.Preview = append([]string{preview}, previewArgs...)
			}
			if err := o.Check(); err != nil {
				return shell.Hinted(shell.Usage(err), "give the program's path, or a name that is found in PATH: trapeze work --agent "+o.Agent+" -- PROGRAM ARGS…")
			}
			c, err := s.Enrol(ctx, o.Agent, spec, register)
			if err != nil {
				return err
			}
			if o.Token, err = s.Credential(ctx); err != nil {
				return err
			}
			ctx, drain, stop := drainable(ctx)
			defer stop()
			if err = work.Run(ctx, drain, c, o); errors.Is(err, work.ErrNotAgent) {
				err = shell.Hinted(shell.Usage(err), "leave TRAPEZE_TOKEN out, or set it to the agent's own: trapeze token create --agent "+o.Agent)
			}
			return err
		})
	cmd.Long = work.Help
	f := cmd.Flags()
	f.IntVar(&o.Jobs, "jobs", 1, "how many may run at once")
	f.BoolVar(&register, "register", false, "register the agent anew with the flags given here, even if it is there")
	f.StringSliceVar(&spec.Capabilities, "capability", nil, "when registering: what it can do (repeatable)")
	f.StringVar(&spec.Description, "description", "", "when registering: what it is good at")
	f.StringSliceVar(&spec.Fallbacks, "fallback", nil, "when registering: agents to try instead (repeatable)")
	f.StringVar(&preview, "preview", "", "a program to ask before an offer is accepted")
	f.StringArrayVar(&previewArgs, "preview-arg", nil, "an argument of the preview program (repeatable)")
	f.BoolVar(&o.JSONResult, "json-result", false, "the program prints JSON: it becomes the result's data")
	f.DurationVar(&o.Grace, "grace", 5*time.Second, "what a program that is stopped gets to end by itself")
	return cmd
}

func (s *commands) agentName() string {
	if s.Flags.Agent != "" {
		return s.Flags.Agent
	}
	return s.Getenv("TRAPEZE_AGENT")
}

// drainable returns a channel that is closed at the first signal to end, and a context that ends at the second.
func drainable(ctx context.Context) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(ctx)
	drain := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			close(drain)
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, drain, func() {
		signal.Stop(signals)
		cancel()
	}
}
