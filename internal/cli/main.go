package cli

import (
	"context"
	"errors"
	"io"

	"github.com/trapezehq/trapeze/internal/cli/backup"
	"github.com/trapezehq/trapeze/internal/cli/demo"
	"github.com/trapezehq/trapeze/internal/cli/place"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/verify"
)

// Env is what the command line gets from its process.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Serve          ServeFunc
	OpenRecord     verify.Opener
	Copier         Copier
	Terminal       bool   // Stdout is a terminal. A file is asked itself.
	UsualURL       string // where a server is looked for that nobody named; empty: the default address
}

// ServeConfig says how to run a server.
type ServeConfig struct {
	DataDir string
	// Record is where the record is, if it is not in the data directory.
	Record Place
	Addr   string   // host:port; empty means the default, port 0 a free one
	Hosts  []string // additional host names that it is reached by
	// TLSCert, TLSKey and TLSClientCA are files; without the first two the server has no TLS, and without the last clients need no certificate.
	TLSCert, TLSKey, TLSClientCA string
	BehindProxy                  bool   // a proxy in front of the server does TLS
	Policy                       string // the policy file; empty means policy.yaml in the data directory, if it exists
	// MaxArtifact and ArtifactQuota are the maximum sizes of one artifact and of all artifacts of a workspace, in bytes; 0
	// means the default.
	MaxArtifact, ArtifactQuota int64
	// Memory is the memory, in bytes, that the server is to stay near; 0 means the default.
	Memory       int64
	FigureAgents int  // agents that figures name; 0 means 1,000
	RebuildViews bool // build the views again from the ledger first
	Erasable     bool // encrypt content from now on, so that it can be erased

	// Notify is how people are notified of tickets: log, webhook:URL or exec:PROGRAM.
	Notify []string
	// Alerts is how people are notified of alerts: log, webhook:URL, exec:PROGRAM or file:PATH, with a severity and "=" before it if it is
	// for severe ones.
	Alerts []string
	// Witnesses are asked to cosign the checkpoints of the record.
	Witnesses []string

	// OAuthIssuer and OAuthResource are URLs, and OAuthClaim is the claim that names the agent. If they are empty, access
	// tokens of an OAuth issuer are not accepted.
	OAuthIssuer, OAuthResource, OAuthClaim string
	// OAuthPerson is the claim that names the person at the agent's client; empty: tokens name none.
	OAuthPerson string
	// SignIn is how people sign in at the issuer; without a client they cannot.
	SignIn SignInConfig

	// Ephemeral is a server for tests: its data are temporary and its clock can be moved. DataDir is empty.
	Ephemeral bool

	LogLevel  string // debug, info, warn or error
	LogFormat string // text or json
	LogTo     io.Writer
	Version   string
	// Ready is called once the server answers calls.
	Ready func(url, adminTokenFile string)
}

// SignInConfig says how people sign in at the OAuth issuer, and who they are here.
type SignInConfig struct {
	Client, Secret string   // of this server at the issuer; a public client has no secret
	Name, Groups   string   // claims; empty means the defaults
	Domain         string   // of addresses that are names
	Roles          []string // GROUP=ROLE, or GROUP=ROLE@WORKSPACE
	Scopes         []string // asked of the issuer; nil means the defaults
}

// RecordFile is the file of a record, opened for reading.
type RecordFile = verify.File

type (
	// Copier copies data directories.
	Copier = backup.Copier
	// BackupOptions say what a backup has.
	BackupOptions = backup.Options
	// Backup says what a backup has that was made.
	Backup = backup.Made
	// Restored says what was restored.
	Restored = backup.Restored
	// Segment says what was put away.
	Segment = backup.Segment
	// Place says where a record is that several servers share.
	Place = place.Place
)

// ServeFunc runs a server until ctx ends.
type ServeFunc func(ctx context.Context, c ServeConfig) error

// Main runs one command and returns the process's exit code. It never exits the process.
func Main(ctx context.Context, args []string, env Env) int {
	s := newCommands(env)
	s.Args = args
	root := s.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	err = s.CommandError(cmd, err)
	if !errors.As(err, new(demo.ExitCode)) { // the program has printed its own message
		s.PrintError(err)
	}
	return shell.ExitCode(err)
}

// commands are the commands of one run of the command line.
type commands struct {
	*shell.Shell
	serve      ServeFunc
	openRecord verify.Opener
	copier     Copier
}

func newCommands(env Env) *commands {
	return &commands{shell.New(shell.Env{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Getenv: env.Getenv, Terminal: env.Terminal, UsualURL: env.UsualURL}), env.Serve, env.OpenRecord, env.Copier}
}
