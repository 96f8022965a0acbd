//go:build outside

package outside

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/scenario/program"
)

// patience is how long a program of others may take before it counts as hung.
const patience = 8 * time.Minute

func TestMain(m *testing.M) { program.Main(m) }

// serve starts the program with data of its own, and returns its URL and the token of its administrator.
func serve(t *testing.T) (url, token string) {
	t.Helper()
	s := program.Start(t, program.Command("serve", "--ephemeral"))
	return s.URL, s.Token
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
