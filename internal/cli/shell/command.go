package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

// Command makes a command. The context of run carries the idempotency key of --key, and the W3C trace context of the environment
// (TRACEPARENT and TRACESTATE, as OpenTelemetry specifies).
func (s *Shell) Command(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTexts(cmd, args); err != nil {
				return err
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
				err = run(ctx, args)
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
	if near := meant(cmd, args[0]); len(near) > 0 {
		err += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return Hinted(errors.New(err), cmd.CommandPath()+" --help lists the commands")
}

// synonyms are the names that other programs have for commands, with ours, the likeliest first.
var synonyms = map[string][]string{
	"create": {"add", "create"}, "new": {"add", "create"}, "register": {"add", "agent add"},
	"delete": {"remove", "discard", "task cancel"}, "rm": {"remove", "discard", "task cancel"},
	"done": {"complete", "task complete"}, "finish": {"complete", "task complete"},
	"ls": {"list", "status"}, "ps": {"status"}, "get": {"show"}, "describe": {"show"},
	"start": {"serve"}, "up": {"serve"}, "run": {"work"}, "logs": {"events"}, "watch": {"events"},
}

// meant returns the commands below cmd that somebody may have meant by a name, or, if there are none, those of its name in other groups.
func meant(cmd *cobra.Command, name string) (found []string) {
	for _, s := range synonyms[name] {
		if c, rest, err := cmd.Find(strings.Fields(s)); err == nil && c != cmd && len(rest) == 0 {
			found = append(found, s)
		}
	}
	if len(found) == 0 && cmd == cmd.Root() {
		found = namesakes(cmd, name)
	}
	if len(found) == 0 {
		cmd.SuggestionsMinimumDistance = 2
		found = cmd.SuggestionsFor(name)
	}
	if len(found) == 0 {
		found = namesakes(cmd.Root(), name)
	}
	return found
}

// namesakes returns the commands of that name in the groups of a program, such as "task complete" for complete, at most three, that of a task first.
func namesakes(root *cobra.Command, name string) (found []string) {
	groups := slices.Clone(root.Commands())
	slices.SortStableFunc(groups, func(a, b *cobra.Command) int {
		return cmp.Compare(strings.Count(b.Name(), "task"), strings.Count(a.Name(), "task"))
	})
	for _, group := range groups {
		for _, c := range group.Commands() {
			if c.Name() == name && !c.Hidden && len(found) < 3 {
				found = append(found, group.Name()+" "+c.Name())
			}
		}
	}
	return found
}

// Suggest returns the names that resemble a mistyped one, at most three.
func Suggest(typed string, names []string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		if name != typed {
			all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
		}
	}
	near := all.SuggestionsFor(typed)
	return near[:min(len(near), 3)]
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if wait := apart(cmd); wait != "" {
		return Usagef(waitApart, wait)
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
