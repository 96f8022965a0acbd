package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/delivery/courier"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/server"
)

// The server that is killed is a process of its own: this test program again, told by its environment to serve. Slow
// tests use the real program instead.
const (
	childMode = "TRAPEZE_TEST_SERVE" // one of the modes below
	childData = "TRAPEZE_TEST_DATA"
	childAddr = "TRAPEZE_TEST_ADDR"

	modeServe  = "serve"  // the server as it is
	modeBehind = "behind" // with a planted bug: it answers first and writes later
	modeDevour = "devour" // a collector of spans and figures that throws them away
)

func TestMain(m *testing.M) {
	mode := os.Getenv(childMode)
	if mode == "" {
		debug.SetGCPercent(400) // each test opens a server, and most of what it allocates stays until its end
		os.Exit(runAll(m))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() { // the test has gone: so must the child
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	serve := serveChild
	switch mode {
	case modeBehind:
		serve = serveBehind
	case modeDevour:
		serve = serveDevour
	}
	if err := serve(ctx, os.Getenv(childData), os.Getenv(childAddr)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
	os.Exit(0)
}

// startEngine starts what the records of stories are kept by; nil: nothing has to be started.
var startEngine func() (stop func(), err error)

func runAll(m *testing.M) int {
	if startEngine == nil {
		return m.Run()
	}
	flag.Parse()
	stop, err := startEngine()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer stop()
	return m.Run()
}

// tellReady prints the child's address, as `trapeze serve --json` does.
func tellReady(url, tokenFile string) {
	_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"url": url, "admin_token_file": tokenFile})
}

// childPlace is where the record of the child is, if it is not in its data directory: for tests with the tag outside.
var childPlace = func() server.Place { return server.Place{} }

// childNow is the clock of the child; nil: that of the machine.
var childNow func() time.Time

func serveChild(ctx context.Context, dir, addr string) error {
	return server.Run(ctx, server.Config{DataDir: dir, Record: childPlace(), Addr: addr, Version: "test", Now: childNow, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}, func(s *server.Server) {
		tellReady(s.URL(), s.AdminTokenFile())
	})
}

// serveBehind answers from memory and writes to the same file as the real server afterwards.
func serveBehind(ctx context.Context, dir, addr string) error {
	log, err := sqlitelog.Open(filepath.Join(dir, "trapeze.db"), sqlitelog.Options{})
	if err != nil {
		return err
	}
	front := ledgertest.NewDouble(ledgertest.Faults{})
	heads, err := pour(ctx, front, log, 0, map[ledger.Stream]ledger.Position{})
	if err != nil {
		return err
	}
	begin, err := log.Last(ctx)
	if err != nil {
		return err
	}
	views, err := sqlview.Follow(ctx, front, "")
	if err != nil {
		return err
	}
	a, err := usecase.New(front, views.Store(), usecase.Options{})
	if err != nil {
		return err
	}
	tokenFile := filepath.Join(dir, "admin.token")
	if _, err := os.Stat(tokenFile); errors.Is(err, os.ErrNotExist) {
		text, err := a.Tokens.Bootstrap(ctx, identity.DefaultWorkspace)
		if err != nil {
			return err
		}
		if err := os.WriteFile(tokenFile, []byte(text), 0o600); err != nil {
			return err
		}
	}
	go func() {
		at := begin
		_ = front.Follow(ctx, begin, func([]ledger.Entry) (err error) {
			heads, err = pour(ctx, log, front, at, heads)
			if err == nil {
				at, err = log.Last(ctx)
			}
			return err
		})
	}()
	go courier.New(a.FollowUp, front, views.Store(), courier.Options{}).Run(ctx)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = l.Close() })
	tellReady("http://"+l.Addr().String(), tokenFile)
	return http.Serve(l, httpapi.New(&a.Surface, httpapi.Options{Version: "behind"})) //nolint:gosec // a test's
}

// pour appends what one ledger has after a position to another that has the same up to there.
func pour(ctx context.Context, to, from ledger.Ledger, after ledger.Position, heads map[ledger.Stream]ledger.Position) (map[ledger.Stream]ledger.Position, error) {
	for {
		entries, err := from.Read(ctx, after, 100)
		if err != nil || len(entries) == 0 {
			return heads, err
		}
		for _, e := range entries {
			after = e.Position
			expect := heads[e.Stream]
			if e.Version == 0 {
				expect = ledger.Any
			}
			if heads[e.Stream], err = to.Append(ctx, e, expect); err != nil {
				return heads, err
			}
		}
	}
}
