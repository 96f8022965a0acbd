package shell

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/screen"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Env is the environment of the process.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Terminal       bool     // Stdout is a terminal. A file is asked itself.
	Args           []string // the arguments of the process, which hints repeat
	UsualURL       string   // where a server is looked for that nobody named; empty: [DefaultURL]
}

// Flags are the flags of every command.
type Flags struct {
	URL, Token, DataDir, Agent string
	CA, ClientCert, ClientKey  string // files
	Key                        string
	JSON, Quiet                bool
}

// Shell is one run of the command line: its environment, its global flags, and what commands share.
type Shell struct {
	Env
	Flags Flags

	ran  bool   // a command has started to run
	kept string // the file that the agent's token was read from
	root *cobra.Command
	// tokenless: there was no token for the server.
	tokenless bool
	moved     string // what to do if the epoch is refused: the caller got the task again, elsewhere
}

// New makes a shell whose flags have not been parsed yet: see Bind.
func New(env Env) *Shell {
	env.Stdout, env.Terminal = screen.Before(env.Stdout, env.Terminal)
	return &Shell{Env: env}
}

// JSONOut is standard output for JSON that is copied as it arrives.
func (s *Shell) JSONOut() io.Writer { return screen.JSON(s.Stdout) }

// Bind sets up the root command: streams, the flags of every command, and help topics.
func (s *Shell) Bind(root *cobra.Command) {
	s.root = root
	root.SetIn(s.Stdin)
	root.SetOut(s.Stdout)
	root.SetErr(s.Stderr)
	f := root.PersistentFlags()
	f.StringVar(&s.Flags.URL, "url", "", "address of the server, or of several that share a record, with commas between (TRAPEZE_URL; default "+DefaultURL+")")
	f.StringVar(&s.Flags.Token, "token", "", "token to use (TRAPEZE_TOKEN; default: the owner's token in the data directory)")
	f.StringVar(&s.Flags.DataDir, "data-dir", "", "data directory (TRAPEZE_DATA; default: see trapeze help files)")
	f.StringVar(&s.Flags.CA, "ca", "", "file with the CA of the server's certificate (TRAPEZE_CA; default: the CAs of the system)")
	f.StringVar(&s.Flags.ClientCert, "client-cert", "", "file with a client certificate, if the server requires one (TRAPEZE_CLIENT_CERT)")
	f.StringVar(&s.Flags.ClientKey, "client-key", "", "file with the private key of that certificate (TRAPEZE_CLIENT_KEY)")
	f.Var((*agentFlag)(&s.Flags.Agent), "agent", "act as this agent (TRAPEZE_AGENT)")
	f.StringVar(&s.Flags.Key, "key", "", "idempotency key: a change that is repeated with the same key is made once")
	f.BoolVar(&s.Flags.JSON, "json", false, "print the API's JSON")
	f.BoolVarP(&s.Flags.Quiet, "quiet", "q", false, "print IDs only, for scripts; for a new token, its text")
	root.MarkFlagsMutuallyExclusive("json", "quiet")
	root.AddCommand(exitCodesTopic(), filesTopic())
	strictHelp(root)
}

// Version is this build's version, as the module has it, or "devel".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// Notef prints a remark for people on standard error.
func (s *Shell) Notef(format string, args ...any) { s.Note(s.paste(fmt.Sprintf(format, args...))) }

// Note prints a line to standard error as it is: its commands are for others than the caller.
func (s *Shell) Note(text string) { fmt.Fprintln(s.Stderr, "trapeze: "+OneLine(text)) }

// agentFlag is the name of an agent, which agent/NAME spells too.
type agentFlag string

// String implements [pflag.Value].
func (a *agentFlag) String() string { return string(*a) }

// Set implements [pflag.Value].
func (a *agentFlag) Set(name string) error {
	*a = agentFlag(event.Bare(name))
	return nil
}

// Type implements [pflag.Value].
func (a *agentFlag) Type() string { return "string" }
