package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// interruptible ends ctx when the process is asked to end.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

func (s *commands) serveCommand() *cobra.Command {
	var conf ServeConfig
	var logFile string
	var background bool
	cmd := s.Command("serve", "Run a server on this machine", shell.NoArgs, func(ctx context.Context, _ []string) (err error) {
		ctx, stop := interruptible(ctx)
		defer stop()
		if conf.DataDir, err = s.DataDir(); err != nil {
			return shell.Usage(err)
		}
		if err := checkLog(conf); err != nil {
			return err
		}
		if conf.MaxArtifact < 0 || conf.ArtifactQuota < 0 {
			return shell.Usagef("--max-artifact and --artifact-quota are numbers of bytes, not less than 1")
		}
		if background {
			return s.inBackground(ctx, conf)
		}
		conf.LogTo, conf.Version = s.Stderr, shell.Version()
		if logFile != "" {
			log, err := daemon.OpenLog(logFile)
			if err != nil {
				return shell.Usage(err)
			}
			defer func() { _ = log.Close() }()
			conf.LogTo = log
		}
		release := func() {}
		defer func() { release() }()
		conf.Ready = func(url, adminTokenFile string) {
			if let, err := daemon.Hold(ctx, conf.DataDir, url); err != nil {
				fmt.Fprintf(s.Stderr, "trapeze: trapeze stop will not find this server: %v\n", err)
			} else {
				release = let
			}
			if s.Flags.JSON {
				ready := map[string]string{"url": url, "admin_token_file": adminTokenFile, "data_dir": conf.DataDir}
				s.Emit(ready, nil) //nolint:errcheck // nobody may be listening
				return
			}
			fmt.Fprintf(s.Stdout, "Trapeze %s\n  answers at   %s\n  keeps        %s\n  owner token  %s\n", conf.Version, url, conf.DataDir, adminTokenFile)
			if url == shell.DefaultURL && s.Flags.DataDir == "" {
				fmt.Fprintln(s.Stdout, "On this machine the command line finds both by itself. Stop it with Ctrl-C or trapeze stop.")
				return
			}
			fmt.Fprintf(s.Stdout, "The command line finds both with --url %s --data-dir %s. Stop it with Ctrl-C or trapeze stop.\n", url, conf.DataDir)
		}
		return inUse(s.serve(ctx, conf), conf.DataDir)
	})
	cmd.Long = `Run a server. It keeps everything in the data directory (--data-dir, see trapeze help files), one server per directory,
and answers on this machine only. Behind a proxy on this machine, name the host that its callers use:

    trapeze serve --host trapeze.example.org

With --background it is started with its log in serve.log in the data directory, and the command returns when calls are
answered; where a server answers at its address already, nothing is started. trapeze stop ends it.`
	f := cmd.Flags()
	f.StringVar(&conf.Addr, "addr", "", "host:port to listen on; port 0 takes a free one (default 127.0.0.1:8727)")
	f.StringSliceVar(&conf.Hosts, "host", nil, "a further name under which it may be reached, such as a proxy's (repeatable; default: localhost and addresses)")
	f.StringVar(&conf.Policy, "policy", "", "the policy file (default: policy.yaml in the data directory, if it is there)")
	f.Int64Var(&conf.MaxArtifact, "max-artifact", 0, "the most bytes that one artifact may have (default 64 MiB)")
	f.Int64Var(&conf.ArtifactQuota, "artifact-quota", 0, "the most bytes that the artifacts of a workspace may have together (default 8 GiB)")
	f.StringArrayVar(&conf.Notify, "notify", nil, "how people are told that they are asked: log, webhook:URL or exec:PROGRAM (repeatable; default: not at all)")
	f.BoolVar(&background, "background", false, "start it apart from this terminal, and return when it answers")
	f.StringVar(&logFile, "log-file", "", "write the log to a file, which is kept under 4 MiB with the one before beside it")
	f.StringVar(&conf.OAuthIssuer, "oauth-issuer", "", "URL of an OAuth issuer whose access tokens count beside the server's own (see docs/oauth.md)")
	f.StringVar(&conf.OAuthResource, "oauth-resource", "", "URL of this server that those tokens must have as audience, such as https://trapeze.example.org/mcp")
	f.StringVar(&conf.OAuthClaim, "oauth-claim", "", "the claim of those tokens that names the agent (default sub)")
	f.StringVar(&conf.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&conf.LogFormat, "log-format", "text", "text or json")
	return cmd
}

// inBackground has a server run that outlives this process.
func (s *commands) inBackground(ctx context.Context, conf ServeConfig) error {
	at := s.URL()
	if conf.Addr != "" {
		at = "http://" + conf.Addr
	}
	out, err := daemon.Ensure(ctx, daemon.Config{URL: at, DataDir: conf.DataDir, Args: conf.further()})
	if err != nil {
		return err
	}
	return s.Emit(out, func(p *shell.Page) {
		if !out.Started {
			p.Line("A server answers at %s already. Nothing was started.", out.URL)
			return
		}
		p.Line("Trapeze %s", shell.Version())
		p.Fields([]shell.Field{{"  answers at", out.URL}, {"  keeps", out.DataDir}, {"  log", daemon.LogFile(out.DataDir)}, {"  process", shell.Number(out.PID)}})
		p.Line("End it with trapeze stop.")
	})
}

// further are the arguments that say the same again, but for directory, address and where the log goes.
func (c ServeConfig) further() []string {
	args := []string{"--log-level", c.LogLevel, "--log-format", c.LogFormat}
	for _, h := range c.Hosts {
		args = append(args, "--host", h)
	}
	for _, n := range c.Notify {
		args = append(args, "--notify", n)
	}
	for _, o := range [][2]string{{"--oauth-issuer", c.OAuthIssuer}, {"--oauth-resource", c.OAuthResource}, {"--oauth-claim", c.OAuthClaim}} {
		if o[1] != "" {
			args = append(args, o[0], o[1])
		}
	}
	if c.Policy != "" {
		args = append(args, "--policy", absolute(c.Policy))
	}
	if c.MaxArtifact != 0 {
		args = append(args, "--max-artifact", strconv.FormatInt(c.MaxArtifact, 10))
	}
	if c.ArtifactQuota != 0 {
		args = append(args, "--artifact-quota", strconv.FormatInt(c.ArtifactQuota, 10))
	}
	return args
}

// absolute is a path as it is found from anywhere.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

func (s *commands) stopCommand() *cobra.Command {
	cmd := s.Command("stop", "End the server on this machine", shell.NoArgs, func(ctx context.Context, _ []string) error {
		dir, err := s.DataDir()
		if err != nil {
			return shell.Usage(err)
		}
		out, err := daemon.Stop(ctx, dir)
		none := errors.Is(err, daemon.ErrNone)
		if err != nil && !none {
			return err
		}
		said := struct {
			Stopped bool   `json:"stopped"`
			PID     int    `json:"pid,omitempty"`
			URL     string `json:"url,omitempty"`
			DataDir string `json:"data_dir"`
		}{!none, out.PID, out.URL, dir}
		return s.Emit(said, func(p *shell.Page) {
			if none {
				p.Line("No server runs on %s.", dir)
				return
			}
			p.Line("The server at %s (process %d) has ended. What it keeps is in %s.", out.URL, out.PID, dir)
		})
	})
	cmd.Long = `End the server that keeps its data in the data directory (--data-dir), whether it runs in the background or in a
terminal. Calls under way get to end. Nothing that was acknowledged is lost, and trapeze serve goes on where it ended.

    trapeze stop`
	return cmd
}

func checkLog(c ServeConfig) error {
	switch c.LogLevel {
	case "debug", "info", "warn", "error":
	default:
		return shell.Hinted(shell.Usagef("there is no log level %q", c.LogLevel), "use --log-level debug, info, warn or error")
	}
	switch c.LogFormat {
	case "text", "json":
		return nil
	}
	return shell.Hinted(shell.Usagef("there is no log format %q", c.LogFormat), "use --log-format text or json")
}

// inUse says in one sentence that another server has the directory; other errors it leaves as they are. What the record
// is kept in is nothing that this package knows: only its words come here.
func inUse(err error, dir string) error {
	if err == nil {
		return nil
	}
	_, by, found := strings.Cut(err.Error(), "database is in use")
	if !found {
		return err
	}
	who, _, _ := strings.Cut(by, ":")
	return shell.Hinted(fmt.Errorf("the data directory %s is in use%s", dir, who),
		"a server runs on it already: use that one, stop it first, or name another data directory with --data-dir")
}
