package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/demo"
	"github.com/trapezehq/trapeze/internal/cli/memory"
	"github.com/trapezehq/trapeze/internal/cli/policy"
	"github.com/trapezehq/trapeze/internal/cli/setup"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/ticket"
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
	DataDir string
	Addr    string   // host:port; empty means the default, port 0 a free one
	Hosts   []string // further names under which it may be reached
	Policy  string   // the policy file; empty means policy.yaml in the data directory, if it is there
	// MaxArtifact and ArtifactQuota are in bytes, of one and of all of a workspace; 0 means the default.
	MaxArtifact, ArtifactQuota int64

	// Notify is how people are told that they are asked: log, webhook:URL or exec:PROGRAM.
	Notify []string

	// OAuthIssuer and OAuthResource are URLs, and OAuthClaim the claim that names the agent; all empty: no issuer.
	OAuthIssuer, OAuthResource, OAuthClaim string

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
	s := newCommands(env)
	root := s.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	err = s.Fault(cmd, err)
	if !errors.As(err, new(demo.ExitCode)) { // it has said what there is to say
		s.Complain(err)
	}
	return shell.ExitCode(err)
}

// commands are the commands of one run of the command line.
type commands struct {
	*shell.Shell
	serve ServeFunc
}

func newCommands(env Env) *commands {
	return &commands{shell.New(shell.Env{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Getenv: env.Getenv}), env.Serve}
}

const rootLong = `Trapeze hands tasks from one AI agent to the next: an agent lets go only when the next one has
accepted, and everything is on record.

    trapeze demo                          see it work: four programs, four mishaps, one report
    trapeze serve                         run a server on this machine
    trapeze agent add coder               register an agent
    trapeze work --agent coder -- CMD     let any program catch what is handed to the coder
    trapeze task create "…" --to coder    hand it something

The server is found by --url or TRAPEZE_URL. On the machine that runs it nothing else is needed: the owner's token is
read from the data directory. --agent NAME acts as that agent.`

func (s *commands) root() *cobra.Command {
	root := shell.Group("trapeze", "A handoff server for AI agents",
		s.serveCommand(), s.stopCommand(), s.demoCommand(), s.stageCommand(), s.workCommand(), s.mcpCommand(),
		s.agentCommand(), s.tokenCommand(), s.taskCommand(),
		s.sendCommand(), s.inboxCommand(), s.handoffCommand(), s.shareCommand(), s.takeoverCommand(),
		s.acceptCommand(), s.rejectCommand(), s.confirmCommand(), s.escalateCommand(),
		s.deadCommand(), s.auditCommand(), s.eventsCommand(), s.versionCommand(),
	)
	root.AddCommand(memory.Commands(s.Shell)...)
	root.AddCommand(policy.Commands(s.Shell)...)
	root.AddCommand(ticket.Commands(s.Shell)...)
	root.AddCommand(setup.Commands(s.Shell)...)
	root.Long, root.Version = rootLong, shell.Version()
	root.SilenceErrors, root.SilenceUsage, root.DisableAutoGenTag = true, true, true
	root.SetVersionTemplate("trapeze {{.Version}}\n")
	s.Bind(root)
	return root
}

func (s *commands) versionCommand() *cobra.Command {
	return s.Command("version", "Print the version", shell.NoArgs, func(context.Context, []string) error {
		v := struct {
			Version string `json:"version"`
		}{shell.Version()}
		return s.Emit(v, func(p *shell.Page) { p.Line("trapeze %s", v.Version) })
	})
}
