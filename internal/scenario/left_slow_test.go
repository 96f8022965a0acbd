//go:build slow && linux && !race

package scenario

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

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/scenario/program"
)

// TestNothingIsLeftInTheTemporaryDirectory has a server make rows of views in a temporary file, to compare them: the file has no name, so that nothing is left by a server that is
// killed, and an erasure gives it up.
func TestNothingIsLeftInTheTemporaryDirectory(t *testing.T) {
	trapeze, dir, tmp := filepath.Join(t.TempDir(), "trapeze"), t.TempDir(), t.TempDir()
	if err := program.Build(trapeze); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), trapeze, "serve", "--erasable", "--data-dir", dir, "--addr", "127.0.0.1:0", "--json") //nolint:gosec // ours
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	s, err := program.Serve(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	c, err := api.New(s.URL, s.Token, api.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	compares := func() {
		t.Helper()
		fillClinic(t, dir, admin.New(c))
		for end := time.Now().Add(patience); !openedIn(t, cmd.Process.Pid, tmp); <-time.After(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the server does not compare its views")
			}
		}
		if found := sentenceIn(t, tmp); len(found) > 0 {
			t.Errorf("%v in the temporary directory of a server that runs have the sentence", found)
		}
	}
	compares()
	if _, err := admin.New(c).Erase(t.Context(), admin.SubjectInput{Subject: "tag/patient-4711", Why: "request"}); err != nil {
		t.Fatal(err)
	}
	if openedIn(t, cmd.Process.Pid, tmp) {
		t.Error("a file that the server has open has the sentence after its erasure")
	}
	compares()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if found := sentenceIn(t, tmp); len(found) > 0 {
		t.Errorf("%v in the temporary directory of a server that was killed have the sentence", found)
	}
}

// openedIn reports whether a process has a file of a directory open that has the sentence.
func openedIn(t *testing.T, pid int, dir string) bool {
	t.Helper()
	opened, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range opened {
		if to, _ := os.Readlink(name); !strings.HasPrefix(to, dir) {
			continue
		}
		if b, _ := os.ReadFile(name); bytes.Contains(b, []byte(sentence)) {
			return true
		}
	}
	return false
}
