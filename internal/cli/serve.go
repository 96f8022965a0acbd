package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/internal/api/otelapi"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func (s *commands) serveCommand() *cobra.Command {
	var conf ServeConfig
	var logFile string
	var background bool
	var cmd *cobra.Command
	cmd = s.Command("serve", "Run a server on this machine", shell.NoArgs, func(ctx context.Context, _ []string) (err error) {
		ctx, stop := shell.Interruptible(ctx)
		defer stop()
		if conf.DataDir, err = s.DataDir(); err != nil {
			return shell.Usage(err)
		}
		if err := checkNumbers(cmd.Flags()); err != nil {
			return err
		}
		if err := s.checkServe(conf, background, logFile); err != nil {
			return err
		}
		if background {
			return s.inBackground(ctx, conf, settings(cmd.Flags()))
		}
		conf.LogTo, conf.Version, conf.SignIn.Secret = s.Stderr, shell.Version(), s.Getenv("TRAPEZE_OIDC_SECRET")
		if !conf.Ephemeral {
			if err := conf.Record.Complete(s.Getenv); err != nil {
				return err
			}
		}
		if logFile != "" {
			log, err := daemon.OpenLog(logFile)
			if err != nil {
				return shell.Usage(err)
			}
			defer func() { _ = log.Close() }()
			conf.LogTo = log
		}
		if conf.Ephemeral {
			conf.DataDir, conf.Ready = "", s.readyForTests
			return s.serve(ctx, conf)
		}
		release := func() {}
		defer func() { release() }()
		conf.Ready = func(url, adminTokenFile string) {
			release = s.hold(ctx, conf.DataDir, url, absolute(conf.TLSCert))
			if s.Flags.JSON {
				ready := map[string]string{"url": url, "admin_token_file": adminTokenFile, "data_dir": conf.DataDir}
				s.Emit(ready, nil) //nolint:errcheck // nobody may be listening
				return
			}
			fmt.Fprintf(s.Stdout, "Trapeze %s\n  address      %s\n  data         %s\n  owner token  %s\n", conf.Version, url, conf.DataDir, adminTokenFile)
			if url == shell.DefaultURL && s.Flags.DataDir == "" {
				fmt.Fprintln(s.Stdout, "On this machine commands find the server and the token automatically. Stop it with Ctrl-C or trapeze stop.")
				return
			}
			fmt.Fprintf(s.Stdout, "Commands find the server and the token with --url %s --data-dir %s. Stop it with Ctrl-C or trapeze stop.\n", url, conf.DataDir)
		}
		return inUse(s.serve(ctx, conf), conf.DataDir)
	})
	cmd.Long = serveLong
	serveFlags(cmd, &conf)
	f := cmd.Flags()
	f.BoolVar(&background, "background", false, "run in the background, and return when the server answers")
	conf.Record.Flags(f)
	conf.Record.NodeFlags(f)
	f.StringVar(&logFile, "log-file", "", "write the log to this file, of at most 4 MiB; the previous log is kept as FILE.1")
	return cmd
}

const serveLong = `Run a server. It keeps its data in the data directory (--data-dir, see trapeze help files), which only one server can use at a time,
and listens on this machine only, unless --addr says otherwise. Other machines reach it with TLS alone, by the server or by a proxy:

    trapeze serve --addr 0.0.0.0:8727 --host trapeze.example.org --tls-cert cert.pem --tls-key key.pem
    trapeze serve --host trapeze.example.org                                      behind a proxy on this machine
    trapeze serve --addr 0.0.0.0:8727 --host trapeze.example.org --behind-proxy   behind a proxy on another machine

A certificate is renewed by replacing its files: new connections get the new one, without a restart. With --tls-client-ca each call needs
a client certificate of that CA in addition to its token; probes of /healthz and /readyz need none (see docs/operate.md).

With --postgres, or TRAPEZE_POSTGRES, the record is in a PostgreSQL database, and any number of servers can share it, each with a data
directory of its own, for its views:

    TRAPEZE_POSTGRES=postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full trapeze serve --data-dir DIR

With --cluster-name the server is a node of a cluster of three or more, which have the record together, and of which one may be lost. Each has the addresses
of all, and the same secret; off the loopback each needs a certificate, too. The first start waits until a majority of them is there:

    export TRAPEZE_CLUSTER_SECRET=$(openssl rand -hex 20)
    trapeze serve --data-dir DIR --cluster-name prod --cluster-addr a:6222 --join a:6222,b:6222,c:6222 --cluster-cert a.pem --cluster-key a.key --cluster-ca ca.pem

With --nats, or TRAPEZE_NATS, the record is in a cluster of NATS servers that is there (see docs/cluster.md).

With --background the server runs in the background, with its log in serve.log in the data directory. The command returns when the
server answers; if a server already answers at the address, it starts nothing. trapeze stop ends the server.

With --ephemeral the server is for tests: its data are temporary and are removed when it ends, its port is a free one unless --addr names
another, and its first line of output is JSON with "url" and "token", the token of its administrator. POST /v1/clock {"by":"90s"} with that
token moves its clock: every timer on the way runs before the answer (see docs/testing.md). It sends nothing to a collector of OpenTelemetry.`

func serveFlags(cmd *cobra.Command, conf *ServeConfig) {
	f := cmd.Flags()
	f.StringVar(&conf.Addr, "addr", "", "host:port to listen on; port 0 chooses a free port (default 127.0.0.1:8727)")
	f.StringSliceVar(&conf.Hosts, "host", nil, "additional host name of the server, such as that of a proxy (repeatable; default: localhost and IP addresses)")
	f.StringVar(&conf.TLSCert, "tls-cert", "", "file with the certificate of the server, and intermediate ones, in PEM; read again when it changes")
	f.StringVar(&conf.TLSKey, "tls-key", "", "file with the private key of the certificate, which only the server can read")
	f.StringVar(&conf.TLSClientCA, "tls-client-ca", "", "file with a CA: calls need a client certificate of it, in addition to the token")
	f.BoolVar(&conf.BehindProxy, "behind-proxy", false, "listen without TLS where other machines can reach it: a proxy in front of the server does TLS")
	f.StringVar(&conf.Policy, "policy", "", "policy file (default: policy.yaml in the data directory, if it exists)")
	f.Int64Var(&conf.MaxArtifact, "max-artifact", 0, "maximum size of an artifact, in bytes (default 64 MiB)")
	f.Int64Var(&conf.ArtifactQuota, "artifact-quota", 0, "maximum total size of the artifacts of a workspace, in bytes (default 8 GiB)")
	f.Int64Var(&conf.Memory, "memory", 0, "memory that the server stays near, in bytes, unless more is in use, as with thousands of sessions (default 160 MiB, or 320 if the record is shared)")
	f.IntVar(&conf.FigureAgents, "figure-agents", 0, "number of agents that the figures at /metrics name; those beyond are counted as one (default 1000)")
	f.BoolVar(&conf.RebuildViews, "rebuild-views", false, "build the views again from the ledger first, about a minute per million entries: if the alert views-disagree is raised")
	f.BoolVar(&conf.Erasable, "erasable", false, "encrypt content from now on, so that it can be erased; a data directory stays so once it is (see docs/erasure.md)")
	f.StringArrayVar(&conf.Notify, "notify", nil, "how to notify people of tickets: log, webhook:URL or exec:PROGRAM (repeatable; default: no notifications)")
	f.StringArrayVar(&conf.Alerts, "alert", nil, "how to notify people of alerts: log, webhook:URL, exec:PROGRAM or file:PATH, a file with a sink in each line; with warning= or critical= before it, only of those (repeatable; see docs/alerts.md)")
	f.StringArrayVar(&conf.Witnesses, "witness", nil, "witness that is asked to cosign the checkpoints of the record: URL=KEY, with the key that trapeze witness prints (repeatable; see docs/proofs.md)")
	f.BoolVar(&conf.Ephemeral, "ephemeral", false, "for tests: temporary data, a free port, a clock that can be moved; prints URL and token as JSON")
	f.StringVar(&conf.OAuthIssuer, "oauth-issuer", "", "URL of an OAuth issuer whose access tokens are accepted too (see docs/oauth.md)")
	f.StringVar(&conf.OAuthResource, "oauth-resource", "", "URL of this server, the required audience of those tokens, such as https://trapeze.example.org/mcp")
	f.StringVar(&conf.OAuthClaim, "oauth-claim", "", "claim of those tokens that names the agent (default sub)")
	f.StringVar(&conf.OAuthPerson, "oauth-person", "", "claim of those tokens that names the person at the agent's client, who answers questions there (default: none)")
	f.StringVar(&conf.SignIn.Client, "oidc-client", "", "id of this server's client at the issuer: people sign in through it, at the page and by trapeze login; the secret of a confidential client is in TRAPEZE_OIDC_SECRET (see docs/oauth.md)")
	f.StringArrayVar(&conf.SignIn.Roles, "oidc-role", nil, "role of a group of the issuer: GROUP=ROLE or GROUP=ROLE@WORKSPACE; of several the first that fits (repeatable)")
	f.StringVar(&conf.SignIn.Groups, "oidc-groups", "", "claim with the groups of a person (default groups)")
	f.StringVar(&conf.SignIn.Name, "oidc-name", "", "claim with the name of a person (default preferred_username)")
	f.StringVar(&conf.SignIn.Domain, "oidc-domain", "", "domain of addresses that are names: with example.org, ann@example.org is ann")
	f.StringSliceVar(&conf.SignIn.Scopes, "oidc-scope", nil, "scopes that are asked of the issuer when people sign in (default openid,profile,email)")
	shell.Choice(f, &conf.LogLevel, "log-level", "info", "%s", []string{"debug", "info", "warn", "error"})
	shell.Choice(f, &conf.LogFormat, "log-format", "text", "%s", []string{"text", "json"})
}

// hold locks a data directory, so that commands find the server at the URL, until release is called.
func (s *commands) hold(ctx context.Context, dir, at, cert string) (release func()) {
	release, err := daemon.Hold(ctx, dir, at, cert)
	if err != nil {
		fmt.Fprintf(s.Stderr, "trapeze: warning: commands, such as trapeze stop, will not find this server without --url and TRAPEZE_TOKEN: %v\n", err)
		return func() {}
	}
	return release
}

// readyForTests prints where a server for tests is, and the token of its administrator, in one line.
func (s *commands) readyForTests(url, adminTokenFile string) {
	token, err := os.ReadFile(adminTokenFile)
	if err != nil {
		fmt.Fprintf(s.Stderr, "trapeze: the token of the administrator: %v\n", err)
		return
	}
	line, err := json.Marshal(struct {
		URL   string `json:"url"`
		Token string `json:"token"`
	}{url, strings.TrimSpace(string(token))})
	if err == nil {
		fmt.Fprintf(s.Stdout, "%s\n", line)
	}
}

// inBackground starts a server that outlives this process.
func (s *commands) inBackground(ctx context.Context, conf ServeConfig, args []string) error {
	at := s.URL()
	if conf.Addr != "" {
		at = "http://" + conf.Addr
	}
	out, err := daemon.Ensure(ctx, daemon.Config{URL: at, DataDir: conf.DataDir, Args: args})
	return s.Answer(out, err, func(p *shell.Page) {
		if !out.Started {
			p.Line("A server already answers at %s. Nothing was started.", out.URL)
			if out.PID == 0 {
				p.Line("It is not known to use %s: to start another one there, choose another address with --addr.", out.DataDir)
			}
			return
		}
		p.Line("Trapeze %s", shell.Version())
		p.Fields([]shell.Field{{"  address", out.URL}, {"  data", out.DataDir}, {"  log", daemon.LogFile(out.DataDir)}, {"  process", shell.Number(out.PID)}})
		p.Line("Stop it with trapeze stop.")
	})
}

// settings are the flags of [serveFlags] that were given, as the arguments of another trapeze serve. The address is not among them.
func settings(given *pflag.FlagSet) (args []string) {
	var of cobra.Command
	serveFlags(&of, &ServeConfig{})
	given.Visit(func(f *pflag.Flag) {
		if f.Name == "addr" || of.Flags().Lookup(f.Name) == nil {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if f.Name == "policy" {
				v = absolute(v)
			}
			if path, ok := strings.CutPrefix(v, "file:"); ok && f.Name == "alert" {
				v = "file:" + absolute(path)
			}
			args = append(args, "--"+f.Name+"="+v)
		}
	})
	return args
}

// absolute is the absolute path, where it can be determined; none of an empty one.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// checkServe refuses flags that are out of range or do not go together.
func (s *commands) checkServe(c ServeConfig, background bool, logFile string) error {
	switch {
	case c.Ephemeral && (background || s.Flags.DataDir != ""):
		return shell.Hinted(shell.Usagef("--ephemeral does not go with --background or --data-dir: its data are removed when it ends"),
			"start it in the background of your test, and end it with SIGTERM")
	case background && (c.TLSCert != "" || c.BehindProxy):
		return shell.Hinted(shell.Usagef("--background is for a server on this machine alone"), "run it as a service: see docs/operate.md")
	case background && c.Record.HasSecret():
		return shell.Hinted(shell.Usagef("--postgres and --nats do not go with --background: other users could see the URL in the list of processes"), "set TRAPEZE_POSTGRES or TRAPEZE_NATS instead")
	case background && c.Record.IsShared():
		return shell.Hinted(shell.Usagef("--background is for a server that has its record alone"), "run it as a service: see docs/operate.md")
	case c.Ephemeral && c.Record.IsShared():
		return shell.Hinted(shell.Usagef("--ephemeral does not go with a record that is elsewhere: its data are removed when it ends"), "omit one of them")
	case background && logFile != "":
		return shell.Hinted(shell.Usagef("--log-file does not go with --background: the log is serve.log in the data directory"), "omit --log-file")
	}
	if err := otelapi.CheckEnvironment(); err != nil {
		return shell.Usage(err)
	}
	return checkLog(c)
}

// checkNumbers refuses numbers under 1 that were given: in the configuration 0 means the default, and on the command line it would mislead.
func checkNumbers(given *pflag.FlagSet) (err error) {
	given.Visit(func(f *pflag.Flag) {
		if n, parsed := strconv.ParseInt(f.Value.String(), 10, 64); parsed == nil && n < 1 && strings.HasPrefix(f.Value.Type(), "int") {
			err = shell.Hinted(shell.Usagef("--%s must be at least 1", f.Name), "omit it for the default")
		}
	})
	return err
}

func checkLog(c ServeConfig) error {
	switch c.LogLevel {
	case "debug", "info", "warn", "error":
	default:
		return shell.Hinted(shell.Usagef("unknown log level %q", c.LogLevel), "use --log-level debug, info, warn or error")
	}
	switch c.LogFormat {
	case "text", "json":
		return nil
	}
	return shell.Hinted(shell.Usagef("unknown log format %q", c.LogFormat), "use --log-format text or json")
}

// inUse rewords the error of a data directory that another server uses. The command line does not know the database: it only sees
// the text of the error.
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
		"a server runs on it: use that server, stop it with trapeze stop, or choose another data directory with --data-dir")
}
