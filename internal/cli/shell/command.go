package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/suggest"
	"github.com/trapezehq/trapeze/internal/cli/usage"
)

// Command makes a command. The context of run carries the idempotency key of --key, and the W3C trace context of the environment
// (TRACEPARENT and TRACESTATE, as OpenTelemetry specifies).
func (s *Shell) Command(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if text := usage.CheckTexts(cmd, args); text != "" {
				return Usagef("%s", text)
			}
			s.ran = true
			ctx := cmd.Context()
			if s.Flags.Key != "" {
				ctx = client.WithKey(ctx, s.Flags.Key)
			}
			if parent := s.Getenv("TRACEPARENT"); parent != "" {
				ctx = client.WithTrace(ctx, parent, s.Getenv("TRACESTATE"))
			}
			args, err := s.longIDs(ctx, cmd, args)
			if err == nil {
				err = s.withAgent(ctx, cmd, args, run(ctx, args))
			}
			if err != nil && s.tokenless { // a wrong address is the likelier mistake
				err = cmp.Or(s.nobody(ctx), err)
			}
			return withUsage(cmd, err)
		},
	}
}

// Call makes a command that calls the server, and checks nothing before.
func (s *Shell) Call(use, short string, args cobra.PositionalArgs, run func(context.Context, *client.Client, []string) error) *cobra.Command {
	return s.Command(use, short, args, func(ctx context.Context, args []string) error {
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		return run(ctx, c, args)
	})
}

// ReceiptCall makes a command that changes a task, and prints its receipt.
func (s *Shell) ReceiptCall(use, short string, args cobra.PositionalArgs, run func(context.Context, *client.Client, []string) (client.Receipt, error)) *cobra.Command {
	return s.Call(use, short, args, func(ctx context.Context, c *client.Client, args []string) error {
		r, err := run(ctx, c, args)
		return s.EmitReceipt(r, err)
	})
}

// Group makes a command that only has subcommands.
func Group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: noSuchCommand, RunE: helpOf}
	cmd.AddCommand(children...)
	return cmd
}

func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := "there is no command " + cmd.CommandPath() + " " + args[0]
	if near := suggest.Commands(cmd, args[0]); len(near) > 0 {
		err += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return Hinted(errors.New(err), cmd.CommandPath()+" --help lists the commands")
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if text := usage.CheckWait(cmd); text != "" {
		return Usagef("%s", text)
	}
	return fmt.Errorf("%s takes no arguments, but was given %q", cmd.CommandPath(), args[0])
}

// strictHelp makes "help" and "completion" refuse unknown commands.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = noSuchCommand, helpOf
		}
		if c.Name() != "help" {
			continue
		}
		c.Run = nil
		c.RunE = func(_ *cobra.Command, args []string) error {
			of, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if err := noSuchCommand(of, rest); err != nil {
				return err
			}
			of.InitDefaultHelpFlag()
			of.InitDefaultVersionFlag()
			return of.Help()
		}
	}
}

func helpOf(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// Example gives a command its example.
func Example(cmd *cobra.Command, text string) *cobra.Command {
	cmd.Example = "  " + text
	return cmd
}

// Interruptible ends ctx when the process is asked to end.
func Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}
