package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/work"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

func (s *commands) workCommand() *cobra.Command {
	var o work.Options
	var spec client.AgentSpec
	var preview string
	var previewArgs []string
	var register bool
	var guard string
	cmd := s.Command("work --agent NAME [flags] -- CMD ARGS…", "Run a program on every task that is handed to an agent",
		func(cmd *cobra.Command, args []string) error {
			if guard != "" {
				return nil
			}
			if n := cmd.ArgsLenAtDash(); n == 1 && s.agentName() == "" && len(args) > 1 {
				return shell.Hinted(shell.Usagef("the agent %q is named without --agent", args[0]), shellword.Command("trapeze work --agent", args[0])+" -- "+shellword.Quotes(args[n:]...))
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		func(ctx context.Context, args []string) error {
			if guard != "" {
				work.Guard(guard, s.Stdin)
				return nil
			}
			o.Agent, o.Command, o.Stderr = s.agentName(), args, s.Stderr
			if o.Agent == "" {
				return s.NeedAgent(ctx, nil, "name the agent that the program works for: --agent NAME")
			}
			if preview != "" {
				o.Preview = append([]string{preview}, previewArgs...)
			}
			if o.Input != work.InputPrompt && o.Input != work.InputAsk {
				return shell.Usagef("--input %q: use %s or %s", o.Input, work.InputPrompt, work.InputAsk)
			}
			if err := o.Check(); err != nil {
				return shell.Hinted(shell.Usage(err), "give the path of a program, or the name of one in PATH: trapeze work --agent "+shellword.Quote(o.Agent)+" -- PROGRAM ARGS…")
			}
			c, isNew, err := s.Register(ctx, o.Agent, spec, register)
			if err != nil {
				return err
			}
			if isNew {
				fmt.Fprintln(s.Stderr, "trapeze work: "+shell.OneLine(shell.NewAgentMessage(ctx, c, "trapeze work", o.Agent)))
			}
			if o.Token, err = s.Credential(ctx); err != nil {
				return err
			}
			if o.TLS, err = s.TLS(); err != nil {
				return err
			}
			o.Guard, o.TrustEnv = guardCommand(), s.TrustEnv()
			ctx, drain, stop := drainable(ctx)
			defer stop()
			if err = work.Run(ctx, drain, c, o); errors.Is(err, work.ErrNotAgent) {
				err = shell.Hinted(shell.Usage(err), "unset TRAPEZE_TOKEN, or set it to the agent's own token: trapeze token create --agent "+shellword.Quote(o.Agent))
			}
			return err
		})
	cmd.Long = work.Help
	f := cmd.Flags()
	f.IntVar(&o.Jobs, "jobs", 1, "maximum number of programs that run at once")
	f.BoolVar(&register, "register", false, "register the agent with these flags, even if it exists")
	f.StringSliceVar(&spec.Capabilities, "capability", nil, "capability to register the agent with (repeatable)")
	f.StringVar(&spec.Description, "description", "", "description to register the agent with")
	f.StringSliceVar(&spec.Fallbacks, "fallback", nil, "fallback to register the agent with: an agent to offer tasks to instead (repeatable)")
	f.StringVar(&preview, "preview", "", "program that decides whether to accept an offer")
	f.StringArrayVar(&previewArgs, "preview-arg", nil, "argument of the preview program (repeatable)")
	f.BoolVar(&o.JSONResult, "json-result", false, "parse the program's output as JSON, for the data of the result")
	shell.Choice(f, &o.Input, "input", work.InputPrompt, "what the program gets on standard input: %s, which is what the sender asks, without context, or the original intent if there is none",
		[]string{work.InputPrompt, work.InputAsk})
	f.StringVar(&guard, "guard", "", "directory of the worker to clear up after")
	_ = f.MarkHidden("guard") // a worker starts it
	f.DurationVar(&o.Grace, "grace", work.DefaultGrace, "how long a program may take to exit when it is stopped")
	return cmd
}

// guardCommand is this program as the guard of a worker; none in a test that runs the command line in its own process.
func guardCommand() []string {
	self, err := os.Executable()
	if err != nil || strings.HasSuffix(strings.TrimSuffix(self, ".exe"), ".test") {
		return nil
	}
	return []string{self, "work", "--guard"}
}

func (s *commands) agentName() string {
	if s.Flags.Agent != "" {
		return s.Flags.Agent
	}
	return s.Getenv("TRAPEZE_AGENT")
}

// drainable returns a channel that is closed at the first SIGINT or SIGTERM, and a context that ends at the second.
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
