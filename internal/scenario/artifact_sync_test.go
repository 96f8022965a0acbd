//go:build slow && linux && !race

package scenario

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

func TestNoAnswerLeavesBeforeTheArtifactIsSynced(t *testing.T) {
	embedded(t)
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	r := newRig(t, t.TempDir(), modeServe)
	path := filepath.Join(t.TempDir(), "trace")
	r.program = buildProgram(t)
	r.wrap = []string{
		"strace", "-f", "-y", "-s", "4200", "--seccomp-bpf", "-o", path,
		"-e", "trace=fsync,rename,renameat,renameat2,write,writev",
	}
	c := r.client(r.start(), r.token)
	pid := holder(t, r.dir)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	var digests []artifact.Digest
	for n := range 20 {
		info, err := c.PutArtifact(t.Context(), bytes.NewReader(patchOf(n, 1000*n)), "")
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, artifact.Digest(info.Digest))
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.ended:
	case <-time.After(patience):
		t.Fatalf("the server does not stop:\n%s", r.stderr)
	}
	for _, d := range digests {
		wantSynced(t, path, d)
	}
}

// wantSynced looks in a trace for an artifact's way: its content is synced, then it gets its name, then the directory is
// synced, and only then is the call answered.
func wantSynced(t *testing.T, path string, d artifact.Digest) {
	t.Helper()
	var synced, named, listed, answered int
	var last string // the unfinished file that was synced last
	dir := "/" + d.Hex()[:2] + ">"
	_, err := eachCall(path, func(_, args string, line int) {
		if answered == 0 && strings.Contains(args, `HTTP/1.1 200`) && strings.Contains(args, string(d)) {
			answered = line
		}
	}, func(name, args string, s span) {
		done := strings.HasSuffix(args, "= 0")
		file, _, _ := strings.Cut(args, ">")
		switch {
		case !done:
		case name == "fsync" && named == 0 && strings.Contains(file, "/artifacts/new/"):
			synced, last = s.to, filepath.Base(file)
		case strings.HasPrefix(name, "rename") && strings.Contains(args, `"`+d.Hex()+`"`):
			if !strings.Contains(args, `"`+last+`"`) {
				t.Errorf("%s gets its name from what was not synced: %s", d, args)
			}
			named = s.from
		case name == "fsync" && named > 0 && listed == 0 && strings.Contains(args, dir):
			listed = s.to
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if synced == 0 || named <= synced || listed <= named || answered <= listed {
		t.Errorf("%s: content synced at %d, named at %d, directory synced at %d, answered at %d", d, synced, named, listed, answered)
	}
}
