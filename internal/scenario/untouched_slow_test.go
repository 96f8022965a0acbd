//go:build slow && !race

package scenario

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
)

var untouched = flag.Int("untouched", 9, "how many copies of a data directory TestNoUntouchedCopyIsAFinding makes; 100 take ten minutes, and forty on a busy machine")

// TestNoUntouchedCopyIsAFinding makes copies of a data directory under load: of one whose server was killed, of one whose server was stopped, and restored from
// a backup of a server that runs. trapeze verify must find nothing in any of them.
func TestNoUntouchedCopyIsAFinding(t *testing.T) {
	embedded(t)
	r := newRig(t, t.TempDir(), "")
	r.program = buildProgram(t)
	trapeze := r.program[0]
	verify := func(dir, what string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), trapeze, "verify", dir).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", what, err, out)
		}
	}
	for i := range *untouched {
		kind := []string{"killed", "stopped", "backup"}[i%3]
		what := fmt.Sprintf("copy %d, %s", i, kind)
		to := filepath.Join(t.TempDir(), "copy")
		stop := underLoad(r, 60)
		switch kind {
		case "killed":
			r.kill()
		case "stopped":
			if err := r.term(); err != nil {
				t.Fatal(err)
			}
		case "backup":
			file := to + ".backup"
			for _, args := range [][]string{{"backup", file, "--data-dir", r.dir}, {"restore", file, to}} {
				if out, err := exec.CommandContext(t.Context(), trapeze, args...).CombinedOutput(); err != nil { //nolint:gosec // ours
					t.Fatalf("%s: %v: %v: %s", what, args, err, out)
				}
			}
			r.kill()
		}
		stop()
		if kind != "backup" {
			if err := os.CopyFS(to, os.DirFS(r.dir)); err != nil {
				t.Fatal(err)
			}
		}
		verify(to, what)
		if err := os.RemoveAll(filepath.Dir(to)); err != nil {
			t.Fatal(err)
		}
	}
	verify(r.dir, "the directory itself")
}

// underLoad starts the server and has clients hand tasks off and complete them until the server is gone. It returns when so many changes are answered; stop
// waits for the clients.
func underLoad(r *rig, changes int) (stop func()) {
	r.Helper()
	url := r.start()
	r.release(url)
	boss := r.client(url, r.token)
	var clients sync.WaitGroup
	var answered atomic.Int64
	enough := make(chan struct{})
	count := func(err error) bool {
		if err == nil && answered.Add(1) == int64(changes) {
			close(enough)
		}
		return err == nil
	}
	for i := range 8 {
		name := fmt.Sprint("agent-", i)
		if _, err := boss.RegisterAgent(r.Context(), name, api.AgentSpec{}); err != nil {
			r.Fatal(err)
		}
		made, err := boss.CreateToken(r.Context(), api.TokenInput{Role: api.RoleAgent, Name: name})
		if err != nil {
			r.Fatal(err)
		}
		agent := r.client(url, made.Text)
		clients.Go(func() {
			defer agent.Close()
			ctx := context.WithoutCancel(r.Context())
			for n := 0; ; n++ {
				t, err := agent.CreateTask(ctx, api.CreateInput{Intent: fmt.Sprintf("work %d", n), Start: true, Content: api.Content{Notes: "as agreed"}})
				if !count(err) {
					return
				}
				if _, err := agent.Complete(ctx, t.Task, api.CompleteInput{Epoch: t.Epoch, Result: api.Result{Text: "done"}}); !count(err) {
					return
				}
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(patience):
		r.Fatalf("%d changes were answered", answered.Load())
	}
	return func() { clients.Wait(); boss.Close() }
}
