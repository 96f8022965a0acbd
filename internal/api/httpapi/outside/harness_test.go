//go:build outside

package outside

import (
	"context"
	"encoding/json"
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

// patience is how long a program of others may take before it counts as hung.
const patience = 8 * time.Minute

// trapeze is the program, built once for all tests.
var trapeze string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "outside")
	if err != nil {
		log.Fatal(err)
	}
	trapeze = filepath.Join(dir, "trapeze")
	if out, err := exec.CommandContext(context.Background(), "go", "build", "-o", trapeze, "github.com/trapezehq/trapeze/cmd/trapeze").CombinedOutput(); err != nil {
		log.Fatalf("%v\n%s", err, out)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// serve starts the program with data of its own, and returns its URL and the token of its administrator.
func serve(t *testing.T) (url, token string) {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), trapeze, "serve", "--ephemeral")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve: %v\n%s", err, errs.String())
		}
	})
	var ready struct{ URL, Token string }
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		t.Fatalf("serve does not start: %v\n%s", err, errs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return ready.URL, ready.Token
}

// installed is the path of a program in testdata.
func installed(t *testing.T, name string) string {
	t.Helper()
	path := data(t, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not installed: run .ci/run outside", path)
	}
	return path
}

func data(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a program to its end, and fails the test if it fails.
func run(t *testing.T, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = t.TempDir() // some leave files behind
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out[:min(len(out), 20_000)])
	}
}
