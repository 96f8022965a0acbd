//go:build slow

package server

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/server/putaway"
)

func TestASegmentAndABackupOfTheRecordHaveTheSameEntries(t *testing.T) {
	t.Parallel()
	dir, before, _, made, _ := segmented(t)
	var b bytes.Buffer
	if _, err := Backup(t.Context(), dir, &b, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if _, err := Restore(t.Context(), restored, "", Place{}, []io.Reader{bytes.NewReader(b.Bytes())}); err != nil {
		t.Fatal(err)
	}
	was, is := all(t, before), all(t, restored)
	if len(is) <= len(was) {
		t.Fatalf("%d entries are restored of %d", len(is), len(was))
	}
	for i := range was {
		if !bytes.Equal(was[i], is[i]) {
			t.Errorf("entry %d is another one", i+1)
		}
	}
	detach(t, dir)
	_, err := Backup(t.Context(), dir, io.Discard, BackupOptions{})
	if err == nil || !strings.Contains(err.Error(), filepath.Base(made.File)) {
		t.Errorf("a backup without the entries that were put away: %v", err)
	}
}

// TestACrashWhileEntriesArePutAwayLosesNothing has each step done, and the next ones not.
func TestACrashWhileEntriesArePutAwayLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	stop(t, s)
	crashed := errors.New("crashed")
	for steps := range 5 {
		copied := copyOf(t, dir)
		after := steps
		_, err := putAwayUntil(t.Context(), copied, beforeLong(), func() error {
			if after--; after < 0 {
				return crashed
			}
			return nil
		})
		if !errors.Is(err, crashed) {
			t.Fatalf("after %d steps: %v", steps, err)
		}
		clean(t, "after a crash", copied)
		s := open(t, copied)
		wantTask(t, s, task)
		stop(t, s)
		made, err := PutAway(t.Context(), copied, beforeLong())
		if err != nil && refusal.CodeOf(err) != refusal.Conflict {
			t.Fatalf("after %d steps, again: %v", steps, err)
		}
		if err == nil && made.Entries == 0 {
			t.Errorf("after %d steps: %+v", steps, made)
		}
		clean(t, "finished", copied)
		if holds(t, copied, "the invoice in full") {
			t.Errorf("after %d steps: the database still has what was put away", steps)
		}
		if list, _ := filepath.Glob(filepath.Join(copied, putaway.Dir, "*")); len(list) != 1 || strings.HasSuffix(list[0], ".new") {
			t.Errorf("after %d steps: the segments are %v", steps, list)
		}
	}
}

func TestOnlyWhatHasEndedAndIsKeptByNobodyIsPutAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	c := clientOf(t, s)
	if _, err := admin.New(c).SetHold(t.Context(), admin.SubjectInput{Subject: "task/" + task, Why: "case 12"}); err != nil {
		t.Fatal(err)
	}
	later, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "not yet"})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	_, err = PutAway(t.Context(), dir, beforeLong())
	nothing(t, err, "a legal hold is on task "+task)
	_, err = PutAway(t.Context(), dir, time.Now().Add(-time.Hour))
	nothing(t, err, "no task ended before then")

	s = open(t, dir)
	if _, err := admin.New(clientOf(t, s)).LiftHold(t.Context(), admin.SubjectInput{Subject: "task/" + task, Why: "closed"}); err != nil {
		t.Fatal(err)
	}
	_, err = PutAway(context.Background(), dir, beforeLong())
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("while the server runs: %v", err)
	}
	stop(t, s)
	made, err := PutAway(t.Context(), dir, beforeLong())
	if err != nil || made.Next != "task "+later.Task+" has not ended" {
		t.Errorf("%+v, %v", made, err)
	}
	_, err = PutAway(t.Context(), dir, beforeLong())
	nothing(t, err, "task "+later.Task+" has not ended")
	clean(t, "in the end", dir)
}

func TestEntriesThatAreSaidToBeInASegmentOfWhichTheRecordDoesNotKnowAreMissing(t *testing.T) {
	t.Parallel()
	dir, before, _, _, _ := segmented(t)
	at := len(all(t, before)) + 1 // the entry that says that the segment was written
	forged := copyOf(t, before)
	from := database(t, dir)
	defer from.Close()
	rows, err := from.QueryContext(t.Context(), "SELECT position, bytes FROM entries WHERE position < ?", at)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var b []byte
		if err := rows.Scan(&n, &b); err != nil {
			t.Fatal(err)
		}
		store(t, forged, n, b)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	found := verified(t, forged)
	if len(found) != 1 || found[0].Position == 0 || !strings.Contains(found[0].What, "which the record does not know") {
		t.Errorf("the verifier finds %v", found)
	}
}

func TestAnotherEntryInASegmentIsNotServed(t *testing.T) {
	t.Parallel()
	dir, _, task, made, _ := segmented(t)
	path := made.File
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, other, _ := segmented(t) // of another record
	exchanged, err := os.ReadFile(other.File)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(b)
	flipped[len(flipped)/2] ^= 4
	for what, text := range map[string][]byte{
		"of another record": exchanged, "with a flipped bit": flipped, "cut off": b[:len(b)/2], "with another result": forged(t, b, "paid 900", "paid 100"),
	} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if found := verified(t, dir); len(found) == 0 || found[0].Position == 0 {
			t.Errorf("a segment %s: the verifier finds %v", what, found)
		}
		s := open(t, dir)
		if got, err := clientOf(t, s).Task(t.Context(), task); err == nil {
			t.Errorf("a segment %s: the server answers %+v", what, got)
		}
		stop(t, s)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	clean(t, "as it was", dir)
}

// forged is a segment with other words in its entries, as somebody makes it who has no key.
func forged(t *testing.T, text []byte, from, to string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, found := tar.NewWriter(&out), false
	for r := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(h.Name, "entries/") {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(raw, []byte(from))
			var packed bytes.Buffer
			p := gzip.NewWriter(&packed)
			_, err = p.Write(bytes.ReplaceAll(raw, []byte(from), []byte(to)))
			if err := errors.Join(err, p.Close()); err != nil {
				t.Fatal(err)
			}
			b, h.Size = packed.Bytes(), int64(packed.Len())
		}
		werr := w.WriteHeader(h)
		if werr == nil {
			_, werr = w.Write(b)
		}
		if werr != nil {
			t.Fatal(werr)
		}
	}
	if !found {
		t.Fatalf("the segment has not %q", from)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
