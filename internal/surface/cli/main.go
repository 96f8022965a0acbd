package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/surface/cli/demo"
)

// Env is what the command line gets from its process.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Serve          ServeFunc
}

// ServeConfig says how to run a server.
type ServeConfig struct {
	DataDir   string
	Addr      string // host:port; empty means the default, port 0 a free one
	LogLevel  string // debug, info, warn or error
	LogFormat string // text or json
	LogTo     io.Writer
	Version   string
	// Ready is called once calls are answered.
	Ready func(url, adminTokenFile string)
}

// ServeFunc runs a server until ctx ends.
type ServeFunc func(ctx context.Context, c ServeConfig) error

// Main runs one command and returns the process's exit code. It never exits the process.
func Main(ctx context.Context, args []string, env Env) int {
	s := &shell{env: env}
	root := s.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if !s.ran && !isRefusal(err) { // it did not get as far as the command's own work
		err = usageError{err}
		if !cmd.HasSubCommands() {
			err = hinted{err, "usage: " + cmd.UseLine() + "; --help says more"}
		}
	}
	if !errors.As(err, new(demo.ExitCode)) { // it has said what there is to say
		s.complain(err)
	}
	return ExitCode(err)
}

// Version is this build's version, as the module has it, or "devel".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// shell is one run of the command line.
type shell struct {
	env   Env
	flags struct {
		url, token, dataDir, agent string
		key                        string
		json, quiet                bool
	}
	ran  bool   // a command's own work began
	kept string // the file that the agent's token came from
}

const rootLong = `Trapeze hands tasks from one AI agent to the next: an agent lets go only when the next one has
accepted, and everything is on record.

    trapeze demo                          see it work: four programs, three mishaps, one report
    trapeze serve                         run a server on this machine
    trapeze agent add coder               register an agent
    trapeze work --agent coder -- CMD     let any program catch what is handed to the coder
    trapeze task create "…" --to coder    hand it something

The server is found by --url or TRAPEZE_URL. On the machine that runs it nothing else is needed: the owner's token is
read from the data directory. --agent NAME acts as that agent.`

func (s *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use: "trapeze", Short: "A handoff server for AI agents", Long: rootLong,
		SilenceErrors: true, SilenceUsage: true, Args: noSuchCommand, RunE: helpOf, DisableAutoGenTag: true,
		Version: Version(),
	}
	root.SetIn(s.env.Stdin)
	root.SetOut(s.env.Stdout)
	root.SetErr(s.env.Stderr)
	f := root.PersistentFlags()
	f.StringVar(&s.flags.url, "url", "", "address of the server (TRAPEZE_URL; default "+defaultURL+")")
	f.StringVar(&s.flags.token, "token", "", "token to use (TRAPEZE_TOKEN; default: the owner's, from the data directory)")
	f.StringVar(&s.flags.dataDir, "data-dir", "", "data directory (TRAPEZE_DATA; default: see trapeze help files)")
	f.StringVar(&s.flags.agent, "agent", "", "act as this agent (TRAPEZE_AGENT)")
	f.StringVar(&s.flags.key, "key", "", "idempotency key of the change: repeated under the same key, it happens once")
	f.BoolVar(&s.flags.json, "json", false, "print the API's JSON")
	f.BoolVarP(&s.flags.quiet, "quiet", "q", false, "print only ids, for scripts; a new token's text")
	root.MarkFlagsMutuallyExclusive("json", "quiet")
	root.AddCommand(
		s.serveCommand(), s.demoCommand(), s.stageCommand(), s.workCommand(),
		s.agentCommand(), s.tokenCommand(), s.taskCommand(),
		s.sendCommand(), s.inboxCommand(), s.handoffCommand(), s.shareCommand(), s.takeoverCommand(),
		s.acceptCommand(), s.rejectCommand(), s.confirmCommand(), s.approveCommand(), s.denyCommand(), s.escalateCommand(),
		s.deadCommand(), s.auditCommand(), s.eventsCommand(), s.versionCommand(),
		exitCodesTopic(), filesTopic(),
	)
	root.SetVersionTemplate("trapeze {{.Version}}\n")
	strictHelp(root)
	return root
}

// command is a command of its own: what it does, and how many arguments it takes.
func (s *shell) command(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.ran = true
			ctx := cmd.Context()
			if s.flags.key != "" {
				ctx = client.WithKey(ctx, s.flags.key)
			}
			return run(ctx, args)
		},
	}
}

// call is a command that needs the server.
func (s *shell) call(use, short string, args cobra.PositionalArgs, run func(context.Context, *client.Client, []string) error) *cobra.Command {
	return s.command(use, short, args, func(ctx context.Context, args []string) error {
		c, err := s.dial(ctx)
		if err != nil {
			return err
		}
		return run(ctx, c, args)
	})
}

// group is a command that only has commands.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: noSuchCommand, RunE: helpOf}
	cmd.AddCommand(children...)
	return cmd
}

func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	err := "there is no command " + cmd.CommandPath() + " " + args[0]
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(err)
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, and %q is one", cmd.CommandPath(), args[0])
}

// strictHelp makes "help" refuse what it knows nothing of.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
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
			return of.Help()
		}
	}
}

func helpOf(cmd *cobra.Command, _ []string) error { return cmd.Help() }

func (s *shell) versionCommand() *cobra.Command {
	return s.command("version", "Print the version", noArgs, func(context.Context, []string) error {
		v := struct {
			Version string `json:"version"`
		}{Version()}
		return s.emit(v, func(p *page) { p.line("trapeze %s", v.Version) })
	})
}

// now is for what people read; nothing is decided by it.
func now() time.Time { return time.Now() }
