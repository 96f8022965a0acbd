package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/server/putaway"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
)

// beforeLong is a time before which everything in a test happens.
func beforeLong() time.Time { return time.Now().Add(time.Hour) }

// segmented is a data directory with a task that was put away, whose server is stopped; a copy of before; and the receipt of the task.
func segmented(t *testing.T) (dir, before, task string, made Segment, receipt []byte) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir)
	task = paid(t, s)
	c := clientOf(t, s)
	var b bytes.Buffer
	if err := admin.New(c).HandoffReceipt(t.Context(), task+".h1", &b); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	before = copyOf(t, dir)
	made, err := PutAway(t.Context(), dir, beforeLong())
	if err != nil {
		t.Fatal(err)
	}
	return dir, before, task, made, b.Bytes()
}

func clientOf(t *testing.T, s *Server) *client.Client {
	t.Helper()
	c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// detach takes the segments out of a data directory, and returns where they are.
func detach(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(filepath.Join(dir, putaway.Dir), to); err != nil {
		t.Fatal(err)
	}
	return to
}

// clean fails the test if the verifier finds something in a data directory, in its record or its views.
func clean(t *testing.T, when, dir string, kept ...proof.Checkpoint) {
	t.Helper()
	if found := verified(t, dir, kept...); len(found) > 0 {
		t.Errorf("%s: the verifier finds %v", when, found)
	}
	r, err := OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found, err := r.CheckViews(t.Context(), nil)
	if _, away := ledger.AsPutAway(err); len(found) > 0 || err != nil && !away {
		t.Errorf("%s: the views: %v, %v", when, found, err)
	}
}

func TestWhatIsPutAwayIsReadFromItsSegmentAndStaysProvable(t *testing.T) {
	t.Parallel()
	dir, before, task, made, receipt := segmented(t)
	old, err := checkpointIn(t, before)
	if err != nil {
		t.Fatal(err)
	}
	if made.First != 1 || made.Entries < 3 {
		t.Fatalf("%+v", made)
	}
	if holds(t, dir, "the invoice in full") {
		t.Error("the database still has what was put away")
	}
	clean(t, "attached", dir, old)
	s := open(t, dir)
	wantTask(t, s, task)
	if err := s.views.Rebuild(t.Context()); err != nil {
		t.Errorf("the views from an attached segment: %v", err)
	}
	wantReceipt(t, s, receipt)
	stop(t, s)
	clean(t, "attached, and served", dir, old)

	elsewhere := detach(t, dir)
	clean(t, "detached", dir, old)
	s = open(t, dir)
	wantReceipt(t, s, receipt)
	_, err = clientOf(t, s).Task(t.Context(), task)
	refusedWith(t, err, refusal.Conflict, "is put away in "+filepath.Base(made.File))
	if _, err := clientOf(t, s).CreateTask(t.Context(), client.CreateInput{Intent: "one more"}); err != nil {
		t.Errorf("a detached segment stops the server: %v", err)
	}
	if page, err := clientOf(t, s).Tasks(t.Context(), client.TaskFilter{}); err != nil || len(page.Tasks) != 2 {
		t.Errorf("the list of tasks without the segment: %+v, %v", page, err)
	}
	if err := s.views.Rebuild(t.Context()); err == nil || !strings.Contains(err.Error(), filepath.Base(made.File)) {
		t.Errorf("the views are built again without their entries: %v", err)
	}
	if err := s.tree.Err(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(elsewhere, filepath.Join(dir, putaway.Dir)); err != nil { // while the server runs
		t.Fatal(err)
	}
	wantTask(t, s, task)
	stop(t, s)
	clean(t, "attached again", dir, old)
}

// wantTask wants the task as it was completed.
func wantTask(t *testing.T, s *Server, task string) {
	t.Helper()
	got, err := clientOf(t, s).Task(t.Context(), task)
	if err != nil || got.State != "completed" || got.Result == nil || got.Result.Text != "paid 900" {
		t.Errorf("%+v, %v", got, err)
	}
}

// wantReceipt wants a receipt of before to verify, and the server to hold its checkpoint.
func wantReceipt(t *testing.T, s *Server, receipt []byte) {
	t.Helper()
	keys, err := proof.ParseKeys(s.tree.Keys())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := proof.VerifyReceipt(receipt, keys); err != nil || len(r.Handoffs) != 1 {
		t.Errorf("the receipt of before: %+v, %v", r, err)
	}
}

// holds reports whether a file of the database has a text.
func holds(t *testing.T, dir, text string) bool {
	t.Helper()
	for _, name := range []string{recordfile.Database, recordfile.Database + "-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && bytes.Contains(b, []byte(text)) {
			return true
		}
	}
	return false
}

// all are the bytes of all entries of a record.
func all(t *testing.T, dir string) (list [][]byte) {
	t.Helper()
	r, err := OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	entries, err := r.Read(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.AppendStored(nil))
	}
	return list
}

// nothing wants an error that there is nothing to put away, which says why.
func nothing(t *testing.T, err error, why string) {
	t.Helper()
	if refusal.CodeOf(err) != refusal.Conflict || !strings.Contains(err.Error(), "nothing to put away: "+why) {
		t.Errorf("%v, want %q", err, why)
	}
}
