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

	"github.com/trapezehq/trapeze/client"
)

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

// harness is the program `trapeze serve`, with tokens of agents.
type harness struct {
	url   string // of /mcp
	admin *client.Client
}

// serve starts the program, whose directory TestMain has made.
func serve(t *testing.T) *harness {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(context.Background(), trapeze, "serve", "--data-dir", dir, "--addr", "127.0.0.1:0", "--json")
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
	var ready struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		t.Fatalf("serve does not start: %v\n%s", err, errs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	token, err := os.ReadFile(filepath.Join(dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{url: ready.URL + "/mcp"}
	if h.admin, err = client.New(ready.URL, string(token), client.Options{}); err != nil {
		t.Fatal(err)
	}
	return h
}

// token registers an agent and returns a token for it.
func (h *harness) token(t *testing.T, name string) string {
	t.Helper()
	if _, err := h.admin.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	made, err := h.admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return made.Text
}
