//go:build outside

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
)

// TestThreeNodesOfJetStreamAsInTheDocs runs the commands of "Three nodes in ten minutes" in docs/operate.md, in order, in one shell: a node is killed in the middle of a handoff,
// and another after it is back.
func TestThreeNodesOfJetStreamAsInTheDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "operate.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Three nodes in ten minutes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	script := "set -e\ntrap 'rc=$?; kill -9 $N1 $N2 $N3 2>/dev/null || true; wait; exit $rc' EXIT\n"
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			script += command
		}
	}
	for i, addr := range freeaddr.New(t, 6) {
		script = strings.ReplaceAll(script, "127.0.0.1:"+[]string{"6221", "6222", "6223", "8721", "8722", "8723"}[i], addr)
	}
	if n := strings.Count(script, "kill -9 $N"); n != 3 {
		t.Fatalf("%d kills in\n%s", n, script)
	}
	bin := t.TempDir()
	install(t, bin)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+cmd.Dir, "TRAPEZE_DATA="+filepath.Join(cmd.Dir, "home"), "TRAPEZE_AGENT=")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, 5*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that the trap ends the nodes
	err = cmd.Run()
	if err != nil || !strings.Contains(out.String(), "the cookie expires too early") || !strings.Contains(out.String(), "task-completed") {
		for i := range 3 {
			log, _ := os.ReadFile(filepath.Join(cmd.Dir, fmt.Sprintf("n%d.log", i+1)))
			fmt.Fprintf(&out, "\nn%d: %s", i+1, log)
		}
		t.Errorf("%v\n%s", err, out.Bytes())
	}
}
