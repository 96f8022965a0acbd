package sqlitelog

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
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
		conn, err := sqlconn.Open(sqlconn.DSN(path, "rw"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(conn.Exec(change), conn.Close()); err != nil {
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

// TestAScanNotesAPlaceThatIsForged changes the entry before, or the sum over the index, in one frame, whose checksum fits.
func TestAScanNotesAPlaceThatIsForged(t *testing.T) {
	path := indexed(t)
	conn, err := sqlconn.Open(sqlconn.DSN(path, "rw"))
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range []ledger.Position{0, 1, 2, 4, 6, 7, 8, 15} {
		for _, sum := range []bool{false, true} { // or the entry before
			restore := forge(t, conn, forged, sum)
			for _, after := range []ledger.Position{0, 6} {
				want := []ledger.Position{forged}
				if forged <= after {
					want = nil
				} else if sum && forged == after+1 && after > 0 { // its sum has none to be compared with, but that of the next one has
					want = []ledger.Position{forged + 1}
				}
				if found := misplaced(t, path, after); !slices.Equal(found[:min(1, len(found))], want) {
					t.Errorf("after %d, with %d forged (its sum: %v), those misplaced are %v, want %v first", after, forged, sum, found, want)
				}
			}
			restore()
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}

// misplaced scans a file after a position and returns which entries have another place.
func misplaced(t *testing.T, path string, after ledger.Position) (found []ledger.Position) {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		last, decode, err := r.Scan(t.Context(), after)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range decode() {
			if s.Err != nil {
				t.Error(s.Err)
			}
			if s.Misplaced {
				found = append(found, s.Entry.Position)
			}
		}
		after, more = last, last > 0
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return found
}

// forge writes the frame of an entry again, with another sum over the index, or with another entry before it. Position 0 is none.
func forge(t *testing.T, conn *sqlconn.Conn, at ledger.Position, ofIndex bool) (restore func()) {
	t.Helper()
	if at == 0 {
		return func() {}
	}
	var was []byte
	err := conn.Query(func(row sqlconn.Row) error { was = row.Blob(0); return nil }, "SELECT bytes FROM entries WHERE position = ?", at)
	if err != nil {
		t.Fatal(err)
	}
	s, err := frame.Open(was, at)
	if err != nil {
		t.Fatal(err)
	}
	if ofIndex {
		s.Index++
	} else {
		s.Previous++
	}
	write := func(b []byte) {
		t.Helper()
		if err := conn.Exec("UPDATE entries SET bytes = ? WHERE position = ?", b, at); err != nil {
			t.Fatal(err)
		}
	}
	b, sum := frame.Append(nil, s.Bytes)
	if err := frame.Seal(b, sum, at, s.Previous, s.Index); err != nil {
		t.Fatal(err)
	}
	write(b)
	return func() { write(was) }
}
