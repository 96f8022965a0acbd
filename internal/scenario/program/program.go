package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// name is the file name of the program.
const name = "trapeze"

// patience bounds the start and the end of a server.
const patience = 2 * time.Minute

// dir is the directory of the program that [Main] has built.
var dir string

// Dir returns the directory of the program, for a PATH.
func Dir() string { return dir }

// Main builds the program once, runs the tests, and exits. It is what a TestMain calls.
func Main(m *testing.M) {
	var err error
	if dir, err = os.MkdirTemp("", name); err != nil {
		log.Fatal(err)
	}
	if err := Build(filepath.Join(dir, name)); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// Build builds the program as a file.
func Build(path string) error {
	build := exec.CommandContext(context.Background(), "go", "build", "-o", path, "github.com/trapezehq/trapeze/cmd/trapeze") //nolint:gosec // ours
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// Command is the program with arguments. It is not bound to a context: [Server.Stop] ends a server.
func Command(args ...string) *exec.Cmd {
	return exec.CommandContext(context.Background(), filepath.Join(dir, name), args...) //nolint:gosec // ours
}

// Server is a server in a process of its own.
type Server struct {
	URL   string
	Token string // of its administrator

	cmd    *exec.Cmd
	stderr bytes.Buffer
}

// Serve starts a server: a command that runs `trapeze serve`, with --ephemeral or --json. It returns when the server is ready.
func Serve(cmd *exec.Cmd) (*Server, error) {
	s := &Server{cmd: cmd}
	cmd.Stderr = &s.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var ready struct {
		URL       string `json:"url"`
		Token     string `json:"token"`            // with --ephemeral
		TokenFile string `json:"admin_token_file"` // otherwise
	}
	late := s.endLate()
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("serve does not start: %w\n%s", errors.Join(err, cmd.Wait()), s.stderr.String())
	}
	late.Stop()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	s.URL, s.Token = ready.URL, ready.Token
	if s.Token == "" {
		token, err := os.ReadFile(ready.TokenFile)
		if err != nil {
			return nil, errors.Join(err, s.Stop())
		}
		s.Token = strings.TrimSpace(string(token))
	}
	return s, nil
}

// endLate ends a server that takes too long for a step: its goroutines are then in its output.
func (s *Server) endLate() *time.Timer {
	return time.AfterFunc(patience, func() { _ = s.cmd.Process.Signal(syscall.SIGQUIT) })
}

// Start is [Serve] for a test, at whose end the server is stopped, and must end well.
func Start(t testing.TB, cmd *exec.Cmd) *Server {
	t.Helper()
	s, err := Serve(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		} else if t.Failed() {
			t.Logf("the server has written:\n%s", s.Said())
		}
	})
	return s
}

// Said is what the server has written to its standard error, once it has stopped.
func (s *Server) Said() string { return s.stderr.String() }

// Stop asks the server to end, and returns when it has.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	defer s.endLate().Stop()
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("serve: %w\n%s", err, s.stderr.String())
	}
	return nil
}
