package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/surface/cli/shell"
)

// interruptible ends ctx when the process is asked to end.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

func (s *commands) serveCommand() *cobra.Command {
	var conf ServeConfig
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
		conf.LogTo, conf.Version = s.Stderr, shell.Version()
		conf.Ready = func(url, adminTokenFile string) {
			if s.Flags.JSON {
				ready := map[string]string{"url": url, "admin_token_file": adminTokenFile, "data_dir": conf.DataDir}
				s.Emit(ready, nil) //nolint:errcheck // nobody may be listening
				return
			}
			fmt.Fprintf(s.Stdout, "Trapeze %s\n  answers at   %s\n  keeps        %s\n  owner token  %s\n", conf.Version, url, conf.DataDir, adminTokenFile)
			if url == shell.DefaultURL && s.Flags.DataDir == "" {
				fmt.Fprintln(s.Stdout, "On this machine the command line finds both by itself. Stop it with Ctrl-C.")
				return
			}
			fmt.Fprintf(s.Stdout, "The command line finds both with --url %s --data-dir %s. Stop it with Ctrl-C.\n", url, conf.DataDir)
		}
		return inUse(s.serve(ctx, conf), conf.DataDir)
	})
	cmd.Long = `Run a server. It keeps everything in the data directory (--data-dir, see trapeze help files), one server per directory,
and answers on this machine only. Behind a proxy on this machine, name the host that its callers use:

    trapeze serve --host trapeze.example.org`
	f := cmd.Flags()
	f.StringVar(&conf.Addr, "addr", "", "host:port to listen on; port 0 takes a free one (default 127.0.0.1:8727)")
	f.StringSliceVar(&conf.Hosts, "host", nil, "a further name under which it may be reached, such as a proxy's (repeatable; default: localhost and addresses)")
	f.StringVar(&conf.Policy, "policy", "", "the policy file (default: policy.yaml in the data directory, if it is there)")
	f.Int64Var(&conf.MaxArtifact, "max-artifact", 0, "the most bytes that one artifact may have (default 64 MiB)")
	f.Int64Var(&conf.ArtifactQuota, "artifact-quota", 0, "the most bytes that the artifacts of a workspace may have together (default 8 GiB)")
	f.StringArrayVar(&conf.Notify, "notify", nil, "how people are told that they are asked: log, webhook:URL or exec:PROGRAM (repeatable; default: not at all)")
	f.StringVar(&conf.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&conf.LogFormat, "log-format", "text", "text or json")
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
