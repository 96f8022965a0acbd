//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
)

// Password is the password of the servers' only role, postgres.
const Password = "only-for-tests"

// Server is a server on a free port of the loopback.
type Server struct {
	t    testing.TB
	dir  string
	port int

	mu      sync.Mutex
	process *exec.Cmd // nil: it does not run
	log     *os.File
}

// Start starts a server, with lines of its configuration, and stops it after the test.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	return StartAt(t, t.TempDir(), settings...)
}

// StartAt starts a server like [Start] with its data in an empty directory below one of [testing.TB.TempDir].
func StartAt(t testing.TB, dir string, settings ...string) *Server {
	t.Helper()
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) //nolint:gosec // the server's user goes through it
	s := &Server{t: t, dir: filepath.Join(dir, "data"), port: freePort(t)}
	secret := filepath.Join(dir, "password")
	must(t, os.WriteFile(secret, []byte(Password), 0o644)) //nolint:gosec // of a test
	must(t, os.Mkdir(s.dir, 0o700))
	if c := credential(t); c != nil {
		must(t, errors.Join(os.Chown(dir, int(c.Uid), int(c.Gid)), os.Chown(s.dir, int(c.Uid), int(c.Gid))))
	}
	out, err := s.command("initdb", "--pgdata", s.dir, "--username=postgres", "--auth=scram-sha-256", "--pwfile", secret,
		"--encoding=UTF8", "--locale=C", "--no-sync", "--data-checksums").CombinedOutput()
	if err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.Configure("listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", "max_connections = 60", "shared_buffers = 32MB")
	s.start(settings)
	return s
}

// Standby starts a standby of the server, with lines of its configuration. The name by which the server knows it is standby.
func (s *Server) Standby(settings ...string) *Server {
	s.t.Helper()
	dir := filepath.Join(filepath.Dir(s.dir), "standby")
	other := &Server{t: s.t, dir: dir, port: freePort(s.t)}
	out, err := s.command("pg_basebackup", "--dbname", s.URL()+"&application_name=standby", "--pgdata", dir, "--write-recovery-conf",
		"--checkpoint=fast", "--no-sync").CombinedOutput()
	if err != nil {
		s.t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	other.start(settings)
	return other
}

// Promote has a standby take over.
func (s *Server) Promote() {
	s.t.Helper()
	if out, err := s.command("pg_ctl", "promote", "--pgdata", s.dir).CombinedOutput(); err != nil {
		s.t.Fatalf("pg_ctl promote: %v\n%s", err, out)
	}
}

// start starts a server whose data directory has been made.
func (s *Server) start(settings []string) {
	t := s.t
	t.Helper()
	var err error
	s.log, err = os.Create(filepath.Join(t.TempDir(), "log")) // not beside the data, whose file system tests unmount
	must(t, err)
	s.Configure(append(settings, fmt.Sprintf("port = %d", s.port))...)
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			text, _ := os.ReadFile(s.log.Name())
			t.Logf("the server's log ends with\n%s", text[max(0, len(text)-4000):])
		}
		_ = s.log.Close()
		s.remove()
	})
	s.Run()
}

// remove removes the data: processes of a server that was killed may still add files, which the removal of a test's directory does not expect.
func (s *Server) remove() {
	for end := time.Now().Add(time.Minute); errors.Is(os.RemoveAll(s.dir), syscall.ENOTEMPTY) && time.Now().Before(end); {
		<-time.After(10 * time.Millisecond)
	}
}

// URL returns the URL of the server's database.
func (s *Server) URL() string { return s.URLAt(s.Addr()) }

// URLAt returns the URL of the database for those who reach the server at another address.
func (s *Server) URLAt(addr string) string {
	return fmt.Sprintf("postgres://postgres:%s@%s/postgres?sslmode=disable", Password, addr)
}

// Addr returns the address of the server.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// Configure adds lines to the configuration. They count from the next start, or [Server.Reload].
func (s *Server) Configure(lines ...string) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.dir, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	must(s.t, err)
	_, err = f.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	must(s.t, err)
	must(s.t, f.Close())
}

// Reload has the server read its configuration again.
func (s *Server) Reload() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	must(s.t, s.process.Process.Signal(syscall.SIGHUP))
}

// Run starts the server again after Kill or Stop, and waits until it takes connections.
func (s *Server) Run() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	end := time.Now().Add(time.Minute)
	for { // the children of a killed server may still have its memory
		c := s.command("postgres", "-D", s.dir)
		c.Stdout, c.Stderr = s.log, s.log
		endWithTest(c)
		began, ended := make(chan error), make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread() // the server ends with this thread
			defer runtime.UnlockOSThread()
			err := c.Start()
			if began <- err; err == nil {
				_ = c.Wait()
			}
		}()
		must(s.t, <-began)
		if s.ready(ended, end) {
			s.process = c
			return
		}
		if time.Now().After(end) {
			s.t.Fatal("the server does not start")
		}
	}
}

// ready waits until the server takes connections; false: it has ended.
func (s *Server) ready(ended <-chan struct{}, end time.Time) bool {
	for time.Now().Before(end) {
		select {
		case <-ended:
			return false
		case <-time.After(20 * time.Millisecond): // between two tries
		}
		if s.command("pg_isready", "--quiet", "--host=127.0.0.1", "--port", strconv.Itoa(s.port)).Run() == nil {
			return true
		}
	}
	return false
}

// Kill kills the server, as if by kill -9; its other processes notice that and end.
func (s *Server) Kill() { s.signal(syscall.SIGKILL) }

// Stop stops the server: it ends its connections and shuts down in good order.
func (s *Server) Stop() { s.signal(syscall.SIGINT) }

func (s *Server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return
	}
	_ = s.process.Process.Signal(sig)
	pid := filepath.Join(s.dir, "postmaster.pid")
	for end := time.Now().Add(time.Minute); sig != syscall.SIGKILL; <-time.After(10 * time.Millisecond) { // an orderly stop removes the file
		if _, err := os.Stat(pid); err != nil {
			break
		}
		if time.Now().After(end) {
			s.t.Fatal("the server does not stop")
		}
	}
	s.process = nil
}

// command runs a program of the server, as another user if this one is root: the server refuses root.
func (s *Server) command(program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(context.Background(), find(s.t, program), args...) //nolint:gosec // of a test
	c.Dir = filepath.Dir(s.dir)
	c.Env = append(os.Environ(), "LC_ALL=C")
	if credential := credential(s.t); credential != nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	}
	return c
}

// find returns the path of a program of the newest version that is installed.
func find(t testing.TB, program string) string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program) // Debian has the most on no path
	if len(found) > 0 {
		slices.Sort(found)
		return found[len(found)-1]
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("PostgreSQL's %s is not installed: on Debian, apt-get install postgresql", program)
	}
	return path
}

func freePort(t testing.TB) int {
	_, port, err := net.SplitHostPort(freeaddr.New(t, 1)[0])
	must(t, err)
	n, err := strconv.Atoi(port)
	must(t, err)
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
