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

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
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
