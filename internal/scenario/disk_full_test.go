//go:build slow && linux && !race

package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
)

// A disk that is full, or read-only: the server says so and what to do, keeps running and answering
// reads, loses nothing, and writes again as soon as there is room.

// mounted is a directory on a file system in memory.
func mounted(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount: %v", err)
		}
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// ballast fills a disk up to some bytes, while others write to it too.
func ballast(t *testing.T, dir string, but int64) (release func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast")) //nolint:gosec // ours
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 256<<10)
	for err == nil {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err != nil {
			t.Fatal(err)
		}
		left := int64(s.Bavail)*s.Bsize - but //nolint:gosec // small
		if left <= 0 {
			break
		}
		_, err = f.Write(block[:min(left, int64(len(block)))])
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			t.Error(err)
		}
	}
}

func TestAFullDiskStopsWritesAndNothingElse(t *testing.T) {
	embedded(t)
	c := newCampaign(t, modeServe)
	r := newRig(t, mounted(t, "160m"), modeServe)
	r.program = buildProgram(t)
	crew := c.hire(r)
	// The clients fill the disk several times; the last time to the last byte.
	ctx, stop := context.WithCancel(t.Context())
	wait := crew.work(ctx)
	for round, but := range []int64{40 << 20, 33 << 20, 1 << 20, 64 << 10, 0, 0} {
		more(t, r, crew, 100)
		release := ballast(t, r.dir, but)
		full(t, r, crew, but)
		if round%2 == 0 {
			release()
			room(t, r)
			continue
		}
		killedWhileFull(t, c, r, crew)
		release()
		r.release(r.start())
	}
	more(t, r, crew, 100)
	stop()
	wait()
	c.tally(crew)
	if err := crew.finish(t.Context()); err != nil {
		t.Error(err)
	}
	if err := r.term(); err != nil {
		t.Errorf("%v\n%s", err, r.stderr)
	}
	_, j := c.examine(r, crew)
	j.ended()
	c.blame(j)
	for _, err := range c.faults {
		t.Error(err)
	}
	t.Logf("the disk was full six times: %d acknowledged writes, none lost", c.report.acked)
}

// more waits for some more acknowledged writes.
func more(t *testing.T, r *rig, crew *crew, n int64) {
	t.Helper()
	for before, deadline := crew.acked.Load(), time.Now().Add(patience); crew.acked.Load() < before+n; {
		r.alive()
		if time.Now().After(deadline) {
			t.Fatalf("no more writes: %s", r.stderr)
		}
		<-time.After(time.Millisecond)
	}
}

// full waits until writes are refused, and checks the refusals.
func full(t *testing.T, r *rig, crew *crew, but int64) {
	t.Helper()
	url, _ := r.wait()
	c := r.client(url, r.token)
	defer c.Close()
	large := strings.Repeat("x", 200<<10)
	var refused *api.Error
	for deadline := time.Now().Add(patience); refused == nil; {
		r.alive()
		_, err := c.CreateTask(t.Context(), api.CreateInput{Intent: "fill " + api.NewKey(), Content: api.Content{Notes: large}})
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("with %d bytes left: %v", but, err)
		}
		if time.Now().After(deadline) {
			t.Fatal("the disk does not get full")
		}
	}
	if refused.Status != http.StatusServiceUnavailable || refused.Code != api.Unavailable || refused.Hint == "" {
		t.Errorf("refused with %d: %v", refused.Status, refused)
	}
	err := c.Ready(t.Context())
	if err == nil || !strings.Contains(err.Error(), "full") || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("ready: %v", err)
	}
	if page, err := c.Tasks(t.Context(), api.TaskFilter{}); err != nil || len(page.Tasks) == 0 {
		t.Errorf("lists: %v", err)
	}
	shown(t, c)
	if _, err := c.Agents(t.Context()); err != nil {
		t.Errorf("agents: %v", err)
	}
	if _, err := c.Inbox(t.Context(), api.InboxOptions{Agent: crew.agents[0], Peek: true}); err != nil {
		t.Errorf("a look into an inbox: %v", err)
	}
	r.alive()
	t.Logf("%d KiB left: %v; %v", but>>10, refused, err)
}

// shown checks that tasks can still be read, although each read is recorded first.
func shown(t *testing.T, c *api.Client) {
	t.Helper()
	page, err := c.Tasks(t.Context(), api.TaskFilter{Limit: 5})
	if err != nil || len(page.Tasks) == 0 {
		t.Errorf("%d tasks: %v", len(page.Tasks), err)
	}
	for _, task := range page.Tasks {
		if _, err := c.Task(t.Context(), task.ID); err != nil {
			t.Errorf("a full disk, and a task cannot be shown: %v", err)
		}
	}
}

// room waits until the server says that it can write again.
func room(t *testing.T, r *rig) {
	t.Helper()
	url, _ := r.wait()
	c := r.client(url, r.token)
	defer c.Close()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		r.alive()
		if err = c.Ready(t.Context()); err == nil {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Fatalf("there is room, but: %v", err)
}

// killedWhileFull kills the server, which starts again, but only to read, as long as the disk is full.
func killedWhileFull(t *testing.T, c *campaign, r *rig, crew *crew) {
	t.Helper()
	r.kill()
	r.gathered(len(crew.actors))
	_, j := c.examine(r, crew)
	c.blame(j)
	reader := r.client(r.start(), r.token)
	defer reader.Close()
	if err := reader.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "read-only") || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("started on a full disk it is ready: %v", err)
	}
	shown(t, reader)
	var refused *api.Error
	if _, err := reader.CreateTask(t.Context(), api.CreateInput{Intent: "one more"}); !errors.As(err, &refused) || refused.Code != api.Unavailable {
		t.Errorf("a change on a full disk: %v", err)
	} else if !strings.Contains(refused.Message, "full") || !strings.Contains(refused.Hint, "free space") {
		t.Errorf("a change on a full disk is refused with %q (%q)", refused.Message, refused.Hint)
	}
	r.kill()
	if said := r.stderr.String(); !strings.Contains(said, "READ-ONLY") {
		t.Errorf("started on a full disk it logs %s", said)
	}
	_, j = c.examine(r, crew)
	c.blame(j)
}

func TestADirectoryThatMayNotBeWrittenToIsRefused(t *testing.T) {
	embedded(t)
	program := buildProgram(t)
	dir := mounted(t, "64m")
	r := newRig(t, filepath.Join(dir, "data"), modeServe)
	r.program = program
	r.start()
	if err := r.term(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	t.Run("with data", func(t *testing.T) {
		refusesToStart(t, program, r.dir, "", []string{"read-only", "must be writable"})
	})
	t.Run("without", func(t *testing.T) {
		refusesToStart(t, program, filepath.Join(dir, "new"), "", []string{"read-only", "data directory"})
	})
}

func TestADiskThatBecomesReadOnlyStopsWritesAndLosesNothing(t *testing.T) {
	embedded(t)
	c := newCampaign(t, modeServe)
	dir := mounted(t, "160m")
	r := newRig(t, dir, modeServe)
	r.program = buildProgram(t)
	crew := c.hire(r)
	ctx, stop := context.WithCancel(t.Context())
	wait := crew.work(ctx)
	more(t, r, crew, 100)
	r.kill()
	r.gathered(len(crew.actors))
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	said := r.fails()
	if !strings.Contains(said, "must be writable") {
		t.Errorf("it says %s", said)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=160m"); err != nil {
		t.Fatal(err)
	}
	r.release(r.start())
	more(t, r, crew, 100)
	stop()
	wait()
	c.end(r, crew)
	t.Log(fmt.Sprint(crew.acked.Load()), "acknowledged writes, none lost")
}
