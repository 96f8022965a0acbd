//go:build slow || outside

package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/scenario/program"
)

// patience bounds every wait of a test for a condition. How long it takes is not asserted.
const patience = 2 * time.Minute

// rig is a server in a process of its own, on one data directory, that can be killed and started again.
type rig struct {
	testing.TB
	dir     string
	mode    string
	program []string                 // instead of this test program; the data directory and the address are added
	wrap    []string                 // what runs the program, such as strace
	addr    string                   // empty: a free port
	reach   func(addr string) string // where an address of the process is reached; nil: there
	env     []string                 // that says where the record is; none: it is in the data directory

	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *tail
	ended  chan struct{} // closed when the process has gone
	err    error         // how it ended
	token  string        // of the admin

	mu      sync.Mutex
	gen     int
	url     string        // empty while no server is up
	up      chan struct{} // closed when url is set
	waiting int           // clients that wait for a server
}

func newRig(t testing.TB, dir, mode string) *rig {
	r := &rig{TB: t, dir: dir, mode: mode, up: make(chan struct{}), env: rigRecord(t, dir)}
	t.Cleanup(func() {
		r.kill()
		if t.Failed() && r.stderr != nil { // the cause may be another server than the one that did not answer
			kept := filepath.Join(t.ArtifactDir(), filepath.Base(dir)) // with -artifacts
			if err := errors.Join(os.CopyFS(kept, os.DirFS(dir)), os.WriteFile(kept+".log", []byte(r.stderr.String()), 0o600)); err != nil {
				t.Logf("a copy of %s: %v", dir, err)
			}
			t.Logf("the server on %s, at the end:\n%s", dir, r.stderr.end(8<<10))
		}
	})
	return r
}

// tail keeps the end of a process's output.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b = append(w.b, p...)
	w.b = w.b[max(0, len(w.b)-256<<10):]
	return len(p), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.b)
}

// end is the end of the output, of so many bytes at most.
func (w *tail) end(n int) string {
	said := w.String()
	return said[max(0, len(said)-n):]
}

func (r *rig) command() *exec.Cmd {
	args, addr := r.program, cmp.Or(r.addr, "127.0.0.1:0")
	if args == nil {
		args = []string{os.Args[0], "-test.run=^$"}
	} else {
		args = append(append([]string{}, args...), "--data-dir", r.dir, "--addr", addr, "--json")
	}
	args = append(append([]string{}, r.wrap...), args...)
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...) //nolint:gosec // ours
	cmd.Env = append(os.Environ(), childMode+"="+r.mode, childData+"="+r.dir, childAddr+"="+addr)
	cmd.Env = append(cmd.Env, r.env...)
	if r.program != nil {
		cmd.Env = os.Environ()
	}
	return cmd
}

// readiness is what a server prints when it is ready.
type readiness struct {
	URL string `json:"url"`
}

// launch starts the process and returns a channel with what it prints when it is ready.
func (r *rig) launch() <-chan readiness {
	r.Helper()
	r.cmd, r.stderr, r.ended = r.command(), &tail{}, make(chan struct{})
	r.cmd.Stderr = r.stderr
	in, err := r.cmd.StdinPipe()
	if err != nil {
		r.Fatal(err)
	}
	r.stdin = in
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		r.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		r.Fatal(err)
	}
	ready := make(chan readiness, 1)
	cmd, ended := r.cmd, r.ended
	go func() {
		var said readiness
		if json.NewDecoder(out).Decode(&said) == nil {
			if scheme, addr, is := strings.Cut(said.URL, "://"); is && r.reach != nil {
				said.URL = scheme + "://" + r.reach(addr)
			}
			ready <- said
		}
		_, _ = io.Copy(io.Discard, out)
		r.err = cmd.Wait()
		close(ended)
	}()
	return ready
}

// start starts the server and waits until it answers. The clients do not know of it before [rig.release].
func (r *rig) start() (url string) {
	r.Helper()
	return r.await(r.launch())
}

// await waits until a server that was launched answers.
func (r *rig) await(ready <-chan readiness) (url string) {
	r.Helper()
	select {
	case said := <-ready:
		token, err := os.ReadFile(filepath.Join(r.dir, "admin.token"))
		if err != nil {
			r.Fatal(err)
		}
		r.token = strings.TrimSpace(string(token))
		return said.URL
	case <-r.ended:
		r.Fatalf("the server ended: %v\n%s", r.err, r.stderr)
	case <-time.After(patience):
		r.Fatalf("the server does not start:\n%s", r.stuck())
	}
	return ""
}

// release gives the clients the server at url.
func (r *rig) release(url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gen++
	r.url, r.waiting = url, 0
	close(r.up)
}

// wait returns the URL of the server, once one is up.
func (r *rig) wait() (url string, gen int) {
	counted := false
	for {
		r.mu.Lock()
		url, gen, up := r.url, r.gen, r.up
		if url == "" && !counted {
			r.waiting++
			counted = true
		}
		r.mu.Unlock()
		if url != "" {
			return url, gen
		}
		<-up
	}
}

// gathered returns when n clients wait for a server.
func (r *rig) gathered(n int) {
	r.Helper()
	for deadline := time.Now().Add(patience); ; {
		r.mu.Lock()
		waiting := r.waiting
		r.mu.Unlock()
		if waiting == n {
			return
		}
		if time.Now().After(deadline) {
			r.Fatalf("the server is dead, and only %d of %d clients have noticed", waiting, n)
		}
		<-time.After(time.Millisecond)
	}
}

// kill sends SIGKILL, and returns when the process is gone.
func (r *rig) kill() {
	if r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Kill() // it may have gone already
	<-r.ended
	r.down()
}

func (r *rig) down() {
	r.mu.Lock()
	if r.url != "" {
		r.url, r.up = "", make(chan struct{})
	}
	r.mu.Unlock()
	_ = r.stdin.Close()
	r.cmd = nil
}

// term sends SIGTERM, and returns when the process has ended.
func (r *rig) term() error {
	r.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		r.Fatal(err)
	}
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.Fatalf("the server does not stop:\n%s", r.stuck())
	}
	r.down()
	return r.err
}

// stuck ends the process, and returns its output: it ends with what its goroutines were at.
func (r *rig) stuck() string {
	_ = r.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-r.ended:
	case <-time.After(patience): // the program that runs it may not pass signals on
	}
	return r.stderr.String()
}

// alive fails the test if the process is gone.
func (r *rig) alive() {
	r.Helper()
	select {
	case <-r.ended:
		r.Fatalf("the server has died: %v\n%s", r.err, r.stderr)
	default:
	}
}

// fails runs the server, which must refuse to start, and returns its output.
func (r *rig) fails() string {
	r.Helper()
	ready := r.launch()
	select {
	case <-r.ended:
	case <-ready:
		r.kill()
		r.Fatal("the server started")
	case <-time.After(patience):
		r.Fatalf("the server neither starts nor ends:\n%s", r.stuck())
	}
	var exit *exec.ExitError
	if !errors.As(r.err, &exit) || exit.ExitCode() <= 0 {
		r.Errorf("the server ended with %v, want an exit code above 0", r.err)
	}
	said := r.stderr.String()
	r.down()
	return said
}

// client returns a client that makes each call once.
func (r *rig) client(url, token string) *api.Client {
	r.Helper()
	c, err := api.New(url, token, api.Options{Retries: -1, Timeout: patience})
	if err != nil {
		r.Fatal(err)
	}
	return c
}

// snapshot copies the data directory of a server that is not running.
func (r *rig) snapshot() string {
	r.Helper()
	to := r.TempDir()
	for _, name := range []string{"trapeze.db", "trapeze.db-wal"} {
		b, err := os.ReadFile(filepath.Join(r.dir, name)) //nolint:gosec // ours
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			r.Fatal(err)
		}
	}
	return filepath.Join(to, "trapeze.db")
}

// buildProgram builds the real program; its arguments make it serve.
func buildProgram(t testing.TB) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trapeze")
	if err := program.Build(path); err != nil {
		t.Fatal(err)
	}
	return []string{path, "serve"}
}
