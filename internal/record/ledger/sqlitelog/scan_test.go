package sqlitelog

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// sameAsRead checks that a scan of a file gives the entries and errors that reads give, one after the other, and the bytes of each entry.
func sameAsRead(t *testing.T, r *Reader) {
	t.Helper()
	var read, scanned []string
	for at := ledger.Position(0); ; {
		entries, err := r.Read(t.Context(), at, 4)
		for i := range entries {
			read = append(read, fmt.Sprintf("%v %s", entries[i], entries[i].AppendStored(nil)))
			at = entries[i].Position
		}
		if damaged, ok := errors.AsType[*ledger.Damaged](err); ok {
			read, at = append(read, err.Error()), damaged.Position
		} else if err != nil {
			t.Fatal(err)
		} else if len(entries) == 0 {
			break
		}
	}
	for at := ledger.Position(0); ; {
		last, decode, err := r.Scan(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range decode() {
			if s.Err != nil {
				scanned = append(scanned, s.Err.Error())
			} else {
				scanned = append(scanned, fmt.Sprintf("%v %s", s.Entry, s.Stored))
			}
		}
		if last == 0 {
			break
		}
		at = last
	}
	if !slices.Equal(read, scanned) {
		t.Errorf("reads give\n%q, a scan\n%q", read, scanned)
	}
}

// TestAScanFindsWhatAReadFinds has entries that were changed, moved, exchanged and deleted.
func TestAScanFindsWhatAReadFinds(t *testing.T) {
	for _, change := range []string{
		"SELECT 1",
		"UPDATE entries SET bytes = CAST(substr(bytes, 1, 20) || x'00' || substr(bytes, 22) AS BLOB) WHERE position IN (1, 7, 8)",
		"UPDATE entries SET bytes = x'' WHERE position = 3",
		"UPDATE entries SET bytes = x'09' WHERE position = 4",
		"UPDATE entries SET bytes = CAST(x'05' || substr(bytes, 2) AS BLOB) WHERE position = 4",
		"DELETE FROM entries WHERE position IN (1, 5, 6, 7, 15)",
		"UPDATE entries SET position = 99 WHERE position = 9",
		"UPDATE entries SET bytes = (SELECT bytes FROM entries WHERE position = 2) WHERE position = 5",
		"UPDATE entries SET stream = 2 WHERE position = 4; DELETE FROM streams WHERE id = 3",
	} {
		path := indexed(t)
		conn, err := openConn(dsn(path, "rw"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(conn.exec(change), conn.close()); err != nil {
			t.Fatal(err)
		}
		r, err := OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		sameAsRead(t, r)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
