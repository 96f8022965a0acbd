package server

import (
	"context"
	"flag"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestMain(m *testing.M) {
	// These tests wait for the disk more than they compute. A -parallel of the command line replaces this.
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(400) // each test opens servers, and most of what it allocates stays until its end
	m.Run()
}

func open(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) }) // again does no harm
	return s
}

func token(t *testing.T, s *Server) string {
	t.Helper()
	b, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func me(t *testing.T, s *Server, token string) error {
	t.Helper()
	c, err := client.New(s.URL(), token, client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Me(t.Context())
	return err
}

func TestAServerThatCannotOpenReleasesWhatItHasTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: l.Addr().String()})
	if err == nil || s != nil || !strings.Contains(err.Error(), "another address") {
		t.Fatalf("%v, %v", s, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir) // the data are free
}

func TestOneServerPerDataDirectory(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	first := open(t, dir)
	if _, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second server: %v", err)
	}
	if err := me(t, first, token(t, first)); err != nil {
		t.Errorf("the first server: %v", err)
	}
}

func TestAServerAnswersUnderTheNamesItWasToldAlone(t *testing.T) {
	s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", Hosts: []string{"one.example.org", "Two.example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	for host, want := range map[string]int{
		"one.example.org": http.StatusOK, "two.example.org:443": http.StatusOK, "localhost": http.StatusOK, "example.org": http.StatusForbidden,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("%s is answered %d, want %d", host, res.StatusCode, want)
		}
	}
	for _, bad := range []string{"", "http://one.example.org", "one.example.org:443", "one.example.org.", "*", "two words"} {
		if s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", Hosts: []string{bad}}); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("the name %q: %v, %v", bad, s, err)
		}
	}
}

func TestOnlyTheOwnerCanReadTheData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	open(t, dir)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheOwnersTokenLastsAndIsReplacedWhenItIsGone(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	s := open(t, dir)
	first := token(t, s)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if token(t, s) != first {
		t.Error("a restart has made a new token")
	}
	if err := me(t, s, first); err != nil {
		t.Error(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.AdminTokenFile()); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if second := token(t, s); second == first {
		t.Error("the token that was removed is back")
	} else if err := me(t, s, second); err != nil {
		t.Error(err)
	}
}

func TestLongPollsEndWhenTheServerStops(t *testing.T) {
	t.Parallel() // it mostly waits
	s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", Drain: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.RegisterAgent(t.Context(), "ada", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.Inbox(context.WithoutCancel(t.Context()), client.InboxOptions{Agent: "ada", Wait: 50 * time.Second})
		done <- err
	}()
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
	<-done // answered, refused, or never heard; but not left waiting
}

func TestAnAddressThatOthersCanReachIsRefused(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.org:80", "127.0.0.1"} {
		if s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: addr}); err == nil || s != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
