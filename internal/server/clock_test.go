package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

// forTests starts a server for tests, with a client of its administrator.
func forTests(t *testing.T, c Config) (*Server, *client.Client) {
	t.Helper()
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	token, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	return s, connect(t, s, strings.TrimSpace(string(token)))
}

func connect(t *testing.T, s *Server, token string) *client.Client {
	t.Helper()
	c, err := client.New(s.URL(), token, client.Options{TLS: trust(s)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// trust trusts the certificate that a server has now; nil if it has none.
func trust(s *Server) *tls.Config {
	if s.certificate == nil {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AddCert(s.certificate.Leaf())
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

func TestTemporaryDataGoWithTheirServer(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := s.config.DataDir
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory: %v %v", info, err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data directory is left: %v", err)
	}
	if _, err := Open(t.Context(), Config{Temporary: true, DataDir: t.TempDir()}); err == nil {
		t.Error("a server with temporary data takes a data directory")
	}
}

func TestAnAdministratorMovesTheClockOnceAndTheTimersRun(t *testing.T) {
	t.Parallel()
	start := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)
	s, c := forTests(t, Config{Temporary: true, Clock: NewClock(start)})
	ctx := t.Context()
	if _, err := c.RegisterAgent(ctx, "baker", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	token, err := c.CreateToken(ctx, client.TokenInput{Role: "agent", Name: "baker"})
	if err != nil {
		t.Fatal(err)
	}
	baker := connect(t, s, token.Text)
	task, err := baker.CreateTask(ctx, client.CreateInput{Intent: "bake", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.New(baker).MoveClock(ctx, time.Hour); !errors.Is(err, client.NotPermitted) {
		t.Errorf("an agent moved the clock: %v", err)
	}
	for _, by := range []time.Duration{0, -time.Second} {
		if _, err := admin.New(c).MoveClock(ctx, by); !errors.Is(err, client.Invalid) {
			t.Errorf("by %s: %v", by, err)
		}
	}
	once := client.NewKey()
	for range 2 {
		now, err := admin.New(c).MoveClock(client.WithKey(ctx, once), 31*time.Minute)
		if err != nil || !now.Now.Equal(start.Add(31*time.Minute)) {
			t.Fatalf("now %v, %v", now, err)
		}
	}
	trail, err := c.Trail(ctx, task.Task)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range trail.Entries {
		if e.Event == "lease-lost" {
			if !e.Timestamp.Equal(start.Add(30 * time.Minute)) {
				t.Errorf("the lease of 30 minutes ended at %s", e.Timestamp)
			}
			return
		}
	}
	t.Error("the lease did not end")
}

func TestTheClockOfAnOrdinaryServerCannotBeMoved(t *testing.T) {
	t.Parallel()
	_, c := forTests(t, Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0"})
	if _, err := admin.New(c).MoveClock(t.Context(), time.Hour); !errors.Is(err, client.NotFound) {
		t.Errorf("moved: %v", err)
	}
}

func TestAClockThatRunsIsMovedForwardOnly(t *testing.T) {
	c := NewClock(time.Time{})
	before := c.Now()
	c.move(before.Add(time.Hour))
	if ahead := c.Now().Sub(before); ahead < time.Hour {
		t.Errorf("moved by %s", ahead)
	}
	c.move(before)
	if c.Now().Before(before.Add(time.Hour)) {
		t.Error("moved back")
	}
}
