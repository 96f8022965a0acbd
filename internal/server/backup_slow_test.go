//go:build slow

package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
)

// TestABackupUnderLoadHasEveryAcknowledgedChange makes a full backup and two that follow it while tasks are created, and restores them. Each task that was
// acknowledged before the last backup began is there, with its artifact, and the record goes on.
func TestABackupUnderLoadHasEveryAcknowledgedChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	c, err := client.New(s.URL(), token(t, s), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	load := startLoad(t, c)
	var files []*bytes.Buffer
	var before []string
	var last Made
	for i := range 3 {
		before = load.await(20 * (i + 1))
		put(t, c, fmt.Sprint("artifact ", i))
		o := BackupOptions{}
		if i > 0 {
			o.After = bytes.NewReader(files[i-1].Bytes())
		}
		var b bytes.Buffer
		if last, err = Backup(t.Context(), dir, &b, o); err != nil {
			t.Fatal(err)
		}
		files = append(files, &b)
	}
	load.stop()
	keys := s.tree.Keys()
	stop(t, s)

	to := filepath.Join(t.TempDir(), "restored")
	r, err := Restore(t.Context(), to, keys, Place{}, readers(files))
	if err != nil {
		t.Fatal(err)
	}
	if r.Position != last.Position || r.Root != last.Root || r.Signed != int64(r.Position) { //nolint:gosec // a position
		t.Errorf("restored %+v, backed up %+v", r, last)
	}
	s = open(t, to)
	again, err := client.New(s.URL(), token(t, s), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for i, id := range before {
		if i < len(before)-50 && i%50 != 0 { // there are thousands
			continue
		}
		if _, err := again.Task(t.Context(), id); err != nil {
			t.Errorf("%s was acknowledged before the last backup: %v", id, err)
		}
	}
	restored, err := os.ReadDir(filepath.Join(to, "artifacts", "data", "default"))
	if err != nil || len(restored) == 0 {
		t.Errorf("%d directories of artifacts, %v", len(restored), err)
	}
	told := restores(t, s, r)
	stop(t, s)
	if s = open(t, to); told != 1 {
		t.Errorf("%d entries tell of the restore", told)
	}
	if found := s.tree.Err(); found != nil {
		t.Error(found)
	}
}

// load creates tasks with four goroutines.
type load struct {
	mu      sync.Mutex
	made    []string // ids of acknowledged tasks
	running sync.WaitGroup
	stopped chan struct{}
	grown   chan struct{}
}

func startLoad(t *testing.T, c *client.Client) *load {
	t.Helper()
	l := &load{stopped: make(chan struct{}), grown: make(chan struct{}, 1)}
	for w := range 4 {
		l.running.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-l.stopped:
					return
				default:
				}
				r, err := c.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprintf("task %d of %d", i, w)})
				if err != nil {
					t.Error(err)
					return
				}
				l.mu.Lock()
				l.made = append(l.made, r.Task)
				l.mu.Unlock()
				select {
				case l.grown <- struct{}{}:
				default:
				}
			}
		})
	}
	return l
}

// await returns what was acknowledged, once it is so many tasks.
func (l *load) await(n int) []string {
	for {
		l.mu.Lock()
		list := slices.Clone(l.made)
		l.mu.Unlock()
		if len(list) >= n {
			return list
		}
		<-l.grown
	}
}

func (l *load) stop() {
	close(l.stopped)
	l.running.Wait()
}

// restores counts the entries that tell of a restore.
func restores(t *testing.T, s *Server, r Restored) (told int) {
	t.Helper()
	entries, err := s.log.Read(t.Context(), 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Events[0].Name == (access.Restored{}).EventName() {
			told++
			if uint64(e.Position) <= r.Position || !strings.Contains(string(e.Events[0].Data), r.Root) {
				t.Errorf("position %d: %s", e.Position, e.Events[0].Data)
			}
		}
	}
	return told
}

func put(t *testing.T, c *client.Client, text string) {
	t.Helper()
	if _, err := c.PutArtifact(t.Context(), strings.NewReader(text), ""); err != nil {
		t.Fatal(err)
	}
}

// TestARestoreThatFailsLeavesNothing: neither a data directory nor the one in which it was made.
func TestARestoreThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	paid(t, s)
	var b bytes.Buffer
	if _, err := Backup(t.Context(), dir, &b, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	place := t.TempDir()
	to := filepath.Join(place, "restored")
	whole := b.Bytes()
	if _, err := Restore(t.Context(), to, "", Place{}, []io.Reader{bytes.NewReader(whole[:len(whole)/2])}); err == nil {
		t.Error("half a backup is restored")
	}
	if list, err := os.ReadDir(place); err != nil || len(list) > 0 {
		t.Errorf("it left %v, %v", list, err)
	}
	if _, err := Restore(t.Context(), dir, "", Place{}, []io.Reader{bytes.NewReader(whole)}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("over a data directory: %v", err)
	}
	if _, err := Restore(t.Context(), to, "", Place{}, []io.Reader{bytes.NewReader(whole)}); err != nil {
		t.Error(err)
	}
	used := t.TempDir()
	for _, name := range []string{"lost+found", "notes"} {
		if err := os.Mkdir(filepath.Join(used, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Restore(t.Context(), used, "", Place{}, []io.Reader{bytes.NewReader(whole)}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("beside other files: %v", err)
	}
	nowhere := filepath.Join(place, "nowhere")
	if err := os.Symlink(filepath.Join(place, "missing"), nowhere); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), nowhere, "", Place{}, []io.Reader{bytes.NewReader(whole)}); err == nil || !strings.Contains(err.Error(), "link to nothing") {
		t.Errorf("through a link to nothing: %v", err)
	}
	if _, err := os.Lstat(nowhere + restoring); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("through a link to nothing, it left %v", err)
	}
	there := t.TempDir() // as the root of a volume, which cannot be replaced
	link := filepath.Join(place, "link")
	if err := os.Symlink(there, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), link, "", Place{}, []io.Reader{bytes.NewReader(whole)}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(there, recordfile.Database)); err != nil {
		t.Error(err)
	}
	stop(t, open(t, link))
}
