package server

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/access"
)

// TestABackupUnderLoadHasEveryAcknowledgedChange makes a full backup and two that follow it while tasks are created, and restores them. Each task that was
// acknowledged before the last backup began is there, with its artifact, and the record goes on.
func TestABackupUnderLoadHasEveryAcknowledgedChange(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	c, err := client.New(s.URL(), token(t, s), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var (
		mu      sync.Mutex
		made    []string // ids of acknowledged tasks
		running sync.WaitGroup
		stopped = make(chan struct{})
		grown   = make(chan struct{}, 1)
	)
	for w := range 4 {
		running.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stopped:
					return
				default:
				}
				r, err := c.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprintf("task %d of %d", i, w)})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				made = append(made, r.Task)
				mu.Unlock()
				select {
				case grown <- struct{}{}:
				default:
				}
			}
		})
	}
	acknowledged := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), made...)
	}
	await := func(n int) []string {
		for {
			if list := acknowledged(); len(list) >= n {
				return list
			}
			<-grown
		}
	}
	var files []*bytes.Buffer
	var before []string
	var last Made
	for i := range 3 {
		before = await(20 * (i + 1))
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
	close(stopped)
	running.Wait()
	keys := s.tree.Keys()
	stop(t, s)

	to := filepath.Join(t.TempDir(), "restored")
	r, err := Restore(t.Context(), to, keys, readers(files))
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
	for _, id := range before {
		if _, err := again.Task(t.Context(), id); err != nil {
			t.Errorf("%s was acknowledged before the last backup: %v", id, err)
		}
	}
	restored, err := os.ReadDir(filepath.Join(to, "artifacts", "data", "default"))
	if err != nil || len(restored) == 0 {
		t.Errorf("%d directories of artifacts, %v", len(restored), err)
	}
	entries, err := s.log.Read(t.Context(), 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range entries {
		if e.Events[0].Name == (access.Restored{}).EventName() {
			told++
			if uint64(e.Position) <= r.Position || !strings.Contains(string(e.Events[0].Data), r.Root) {
				t.Errorf("position %d: %s", e.Position, e.Events[0].Data)
			}
		}
	}
	stop(t, s)
	if s = open(t, to); told != 1 {
		t.Errorf("%d entries tell of the restore", told)
	}
	if found := s.tree.Err(); found != nil {
		t.Error(found)
	}
}

func readers(files []*bytes.Buffer) (list []io.Reader) {
	for _, f := range files {
		list = append(list, bytes.NewReader(f.Bytes()))
	}
	return list
}

func put(t *testing.T, c *client.Client, text string) {
	t.Helper()
	if _, err := c.PutArtifact(t.Context(), strings.NewReader(text), ""); err != nil {
		t.Fatal(err)
	}
}

// TestARestoreThatFailsLeavesNothing: neither a data directory nor the one in which it was made.
func TestARestoreThatFailsLeavesNothing(t *testing.T) {
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
	if _, err := Restore(t.Context(), to, "", []io.Reader{bytes.NewReader(whole[:len(whole)/2])}); err == nil {
		t.Error("half a backup is restored")
	}
	if list, err := os.ReadDir(place); err != nil || len(list) > 0 {
		t.Errorf("it left %v, %v", list, err)
	}
	if _, err := Restore(t.Context(), dir, "", []io.Reader{bytes.NewReader(whole)}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("over a data directory: %v", err)
	}
	if _, err := Restore(t.Context(), to, "", []io.Reader{bytes.NewReader(whole)}); err != nil {
		t.Error(err)
	}
}

// TestSecretsThatAreKeptApartAreNotInTheBackup looks for each of them in the file.
func TestSecretsThatAreKeptApartAreNotInTheBackup(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	paid(t, s)
	var b, apart bytes.Buffer
	if _, err := Backup(t.Context(), dir, &b, BackupOptions{Secrets: &apart}); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	for _, name := range []string{"admin.token", "page.key", "proof/key"} {
		secret, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the test's directory
		if err != nil {
			t.Fatal(err)
		}
		if secret = bytes.TrimSpace(secret); bytes.Contains(b.Bytes(), secret) || !bytes.Contains(apart.Bytes(), secret) {
			t.Errorf("%s is in the backup, or not with the secrets", name)
		}
	}
	to := filepath.Join(t.TempDir(), "without")
	if _, err := Restore(t.Context(), to, "", []io.Reader{bytes.NewReader(b.Bytes())}); err != nil {
		t.Fatal(err)
	}
	name, key := s.tree.Keys(), ""
	s = open(t, to) // makes new ones, and the log keeps its name
	if key = s.tree.Keys(); !strings.HasPrefix(key, name) || key == name {
		t.Errorf("the keys of the log are %q, were %q", key, name)
	}
	paid(t, s)
	stop(t, s)
	to = filepath.Join(t.TempDir(), "with")
	if _, err := Restore(t.Context(), to, "", []io.Reader{bytes.NewReader(b.Bytes()), bytes.NewReader(apart.Bytes())}); err != nil {
		t.Fatal(err)
	}
	if s = open(t, to); s.tree.Keys() != name {
		t.Errorf("the keys of the log are %q, were %q", s.tree.Keys(), name)
	}
}
