//go:build unix

package pgtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
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

// Server is a server on a free port of the loopback, or of a network of its own.
type Server struct {
	t    testing.TB
	dir  string
	port int
	site Site

	mu      sync.Mutex
	process *exec.Cmd // nil: it does not run
	log     *os.File
}

// Site is a network of a server's own. It is reached over TLS, as on a machine of its own. The zero value is the loopback, without TLS.
type Site struct {
	Host          string       // its address there
	Cert, Key, CA string       // PEM files: the certificate of the server, its key, and the CA of those who connect
	Enter         func() error // moves the thread of the caller into the network
}

// StartOn starts a server like [Start] on a site.
func StartOn(t testing.TB, site Site, settings ...string) *Server {
	t.Helper()
	return start(t, t.TempDir(), site, settings)
}

// Start starts a server, with lines of its configuration, and stops it after the test.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	return StartAt(t, t.TempDir(), settings...)
}

// StartAt starts a server like [Start] with its data in an empty directory below one of [testing.TB.TempDir].
func StartAt(t testing.TB, dir string, settings ...string) *Server {
	t.Helper()
	return start(t, dir, Site{}, settings)
}

func start(t testing.TB, dir string, site Site, settings []string) *Server {
	t.Helper()
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) //nolint:gosec // the server's user goes through it
	s := &Server{t: t, dir: filepath.Join(dir, "data"), port: freePort(t), site: site}
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
	s.Configure(fmt.Sprintf("listen_addresses = '%s'", s.host()), "unix_socket_directories = ''", "max_connections = 60", "shared_buffers = 32MB")
	if site.Cert != "" {
		s.encrypt()
	}
	s.start(settings)
	return s
}

// encrypt has the server take connections over TLS, also from other addresses.
func (s *Server) encrypt() {
	s.t.Helper()
	for from, to := range map[string]string{s.site.Cert: "server.crt", s.site.Key: "server.key"} { // the names that it expects
		text, err := os.ReadFile(from) //nolint:gosec // of a test
		must(s.t, err)
		to = filepath.Join(s.dir, to)
		must(s.t, os.WriteFile(to, text, 0o600))
		if c := credential(s.t); c != nil {
			must(s.t, os.Chown(to, int(c.Uid), int(c.Gid)))
		}
	}
	s.Configure("ssl = on")
	s.add("pg_hba.conf", "hostssl all all all scram-sha-256")
}

// Standby starts a standby of the server, with lines of its configuration. The name by which the server knows it is standby.
func (s *Server) Standby(settings ...string) *Server {
	s.t.Helper()
	dir := filepath.Join(filepath.Dir(s.dir), "standby")
	other := &Server{t: s.t, dir: dir, port: freePort(s.t), site: s.site}
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
	how := "sslmode=disable"
	if s.site.CA != "" {
		how = "sslmode=verify-full&sslrootcert=" + url.QueryEscape(s.site.CA)
	}
	return fmt.Sprintf("postgres://postgres:%s@%s/postgres?%s", Password, addr, how)
}

// Addr returns the address of the server.
func (s *Server) Addr() string { return net.JoinHostPort(s.host(), strconv.Itoa(s.port)) }

func (s *Server) host() string { return cmp.Or(s.site.Host, "127.0.0.1") }

// Configure adds lines to the configuration. They count from the next start, or [Server.Reload].
func (s *Server) Configure(lines ...string) {
	s.t.Helper()
	s.add("postgresql.conf", lines...)
}

// add adds lines to a file of the server.
func (s *Server) add(file string, lines ...string) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.dir, file), os.O_APPEND|os.O_WRONLY, 0)
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
			runtime.LockOSThread() // the server ends with this thread, which ends with this goroutine
			err := s.enter()
			if err == nil {
				err = c.Start()
			}
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
		if s.run("pg_isready", "--quiet", "--host", s.host(), "--port", strconv.Itoa(s.port)) == nil {
			return true
		}
	}
	return false
}

// run runs a program in the network of the server.
func (s *Server) run(program string, args ...string) error {
	ended := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		err := s.enter()
		if err == nil {
			err = s.command(program, args...).Run()
		}
		ended <- err
	}()
	return <-ended
}

func (s *Server) enter() error {
	if s.site.Enter == nil {
		return nil
	}
	return s.site.Enter()
}

// Kill kills the server, as if by kill -9; its other processes notice that and end.
func (s *Server) Kill() { s.signal(syscall.SIGKILL) }

// Off kills all processes of the server at once, as a loss of power does. One whose disk is gone may wait for another that has died, and never notice that the server has.
func (s *Server) Off() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return
	}
	_ = s.process.Process.Signal(syscall.SIGSTOP) // it starts no more
	for _, pid := range append(children(s.process.Process.Pid), s.process.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	s.process = nil
}

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
