package witness

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// DefaultAddr is where a witness listens by default.
const DefaultAddr = "127.0.0.1:8729"

// Command is the command trapeze witness.
func Command(s *shell.Shell) *cobra.Command {
	var addr, name string
	var logs []string
	cmd := s.Command("witness", "Run a witness, which cosigns the checkpoints of logs of others", shell.NoArgs, func(ctx context.Context, _ []string) error {
		ctx, stop := shell.Interruptible(ctx)
		defer stop()
		if s.Flags.DataDir == "" {
			return shell.Hinted(shell.Usagef("name a directory for the witness: --data-dir DIR"), "use one of its own, not that of a server, and another machine than that of the logs")
		}
		if len(logs) == 0 {
			return shell.Hinted(shell.Usagef("name the logs: --log FILE, a file with their public keys"), "get them from the operators of the logs: trapeze audit keys")
		}
		var keys strings.Builder
		for _, file := range logs {
			b, err := os.ReadFile(file) //nolint:gosec // the path is the user's
			if err != nil {
				return shell.Usage(err)
			}
			keys.Write(append(b, '\n'))
		}
		w, err := Open(s.Flags.DataDir, name, keys.String(), time.Now)
		if err != nil {
			return err
		}
		return errors.Join(serve(ctx, s, w, addr), w.Close())
	})
	cmd.Long = `Run a witness (c2sp.org/tlog-witness). It keeps the last checkpoint of each log, and cosigns a new one only if the log proves that it continues that one. So
nobody can be shown another history of the log together with a cosignature, not even by the operator of the log. A witness is worth something if others run it:
on another machine, by another operator.

--log names a file with the public keys of a log ("trapeze audit keys"), and can be repeated. Give the key that the witness prints to the operator of
the log ("trapeze serve --witness URL=KEY") and to those who verify ("trapeze verify --witness-key FILE"). A witness whose directory is lost must not be started
again with its old key. It has no secrets on the network; put a proxy with TLS before it where others reach it.`
	cmd.Flags().StringVar(&addr, "addr", DefaultAddr, "host:port to listen on; port 0 chooses a free port")
	cmd.Flags().StringVar(&name, "name", "", "name of the key that is made at the first start, such as witness.example.org/w1 (default trapeze-witness)")
	cmd.Flags().StringArrayVar(&logs, "log", nil, "file with the public keys of a log, one in each line (repeatable)")
	return shell.Example(cmd, "trapeze witness --data-dir /var/lib/witness --name witness.example.org/w1 --log keys.txt")
}

// serve answers requests until ctx ends.
func serve(ctx context.Context, s *shell.Shell, w *Witness, addr string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	at := struct {
		URL  string `json:"url"`
		Key  string `json:"key"`
		Logs int    `json:"logs"`
	}{"http://" + listener.Addr().String(), w.Key(), w.Logs()}
	if err := s.Emit(at, func(p *shell.Page) {
		p.Fields([]shell.Field{{"address", at.URL}, {"key", at.Key}, {"logs", shell.Number(at.Logs)}})
	}); err != nil {
		return errors.Join(err, listener.Close())
	}
	srv := &http.Server{
		Handler: w.Handler(slog.New(slog.NewTextHandler(s.Stderr, nil))), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 20 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	done := context.AfterFunc(ctx, func() {
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = srv.Shutdown(drain) // the state is on the disk whatever happens
	})
	defer done()
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
