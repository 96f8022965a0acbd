package server

import (
	"compress/gzip"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof/taskorder"
)

// frozen returns a data directory as an earlier version wrote it.
func frozen(t *testing.T, name string) (dir string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "trapeze.db"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// format returns the number of the format of a directory, after setting it if set is above 0.
func format(t *testing.T, dir string, set int) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "trapeze.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if set > 0 {
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA user_version=%d", set)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestADirectoryOfAnEarlierFormatIsReadAndWrittenTo opens directories with three handoffs: one of the time when entries were stored as
// their bytes, and one of the time when their frames did not say where they are.
func TestADirectoryOfAnEarlierFormatIsReadAndWrittenTo(t *testing.T) {
	t.Parallel()
	for n := 1; n < sqlitelog.Format; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) { earlierFormat(t, n) })
	}
}

// byTheRules checks that a verifier finds nothing in what the rules of any version have written.
func byTheRules(t *testing.T, dir string) {
	t.Helper()
	r, err := OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if found, err := taskorder.Check(t.Context(), r); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func earlierFormat(t *testing.T, number int) {
	dir := frozen(t, fmt.Sprintf("format-%d.db.gz", number))
	if n := format(t, dir, 0); n != number {
		t.Fatalf("the frozen directory has format %d", n)
	}
	byTheRules(t, dir)
	s := open(t, dir)
	c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	page, err := c.Tasks(t.Context(), client.TaskFilter{})
	if err != nil || len(page.Tasks) != 3 {
		t.Fatalf("%d tasks, %v", len(page.Tasks), err)
	}
	for _, task := range page.Tasks {
		if got, err := c.Task(t.Context(), task.ID); err != nil || got.State != "completed" || got.Intent != "measure a handoff" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "one more"}); err != nil {
		t.Error(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := format(t, dir, 0); n != sqlitelog.Format {
		t.Errorf("written to, it has format %d", n)
	}
	s = open(t, dir)
	entries, err := s.log.Read(t.Context(), 0, 100)
	if err != nil || len(entries) < 15 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	byTheRules(t, dir)
}

func TestADirectoryOfANewerFormatIsRefused(t *testing.T) {
	dir := frozen(t, "format-1.db.gz")
	newer := sqlitelog.Format + 1
	format(t, dir, newer)
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0"})
	if err == nil {
		_ = s.Close(context.Background())
		t.Fatal("it was opened")
	}
	record, read := OpenRecord(dir) // to verify it: what is in it is not understood
	if read == nil {
		t.Fatal("it was read", record.Close())
	}
	for _, part := range []string{fmt.Sprintf("has format %d", newer), fmt.Sprintf("formats up to %d", sqlitelog.Format), "upgrade the program to that version or a newer one"} {
		for _, err := range []error{err, read} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("without %q: %v", part, err)
			}
		}
	}
	if n := format(t, dir, 0); n != newer {
		t.Errorf("it has format %d now", n)
	}
}
