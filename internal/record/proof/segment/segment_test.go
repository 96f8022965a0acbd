package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/proof/segment"
)

type hashes []proof.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, i := range indexes {
		out = append(out, h[i])
	}
	return out, nil
}

// The keys of the log, which the processes of a fuzz test share.
const (
	testPrivate = "PRIVATE+KEY+trapeze/test+9f150caa+AVYhZSbw9aGFofs1fs7OsNliOHTzf/yJ02vZsykynXc/"
	testPublic  = "trapeze/test+9f150caa+AeVrQVN3C6SSefP5RoKq2RLOT9dNG3i98No8LXDErTwV"
)

// written is a segment with the entries from 4 to 12 of a record of 20, each entry with so many bytes, and the keys of its log.
func written(t testing.TB, bytesOfEach int) (text []byte, entries []ledger.Entry, keys proof.Keys) {
	t.Helper()
	return writtenOf(t, bytesOfEach, 0)
}

// writtenOf is written of a record whose reads lag.
func writtenOf(t testing.TB, bytesOfEach int, lag time.Duration) (text []byte, entries []ledger.Entry, keys proof.Keys) {
	t.Helper()
	signer, err := note.NewSigner(testPrivate)
	if err != nil {
		t.Fatal(err)
	}
	record, tree, stored := ledgertest.NewDouble(ledgertest.Faults{}), new(proof.Tree), hashes{}
	defer record.Close()
	end := ledger.Position(0)
	for i := range 20 {
		e := ledgertest.NewEntry(ledger.StreamOf("default", "task", "t1"), uint64(i+1), fmt.Sprint(i, strings.Repeat("x", bytesOfEach)))
		if end, err = ledgertest.Put(t.Context(), record, e, end); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err = record.Read(t.Context(), 0, 20); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		stored = tree.Append(proof.Leaf(e), stored)
	}
	c := proof.Checkpoint{Origin: "trapeze/test", Size: tree.Size(), Root: tree.Root()}
	signed, err := c.Sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err = proof.ParseKeys(testPublic); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	record.SetFaults(ledgertest.Faults{Lag: lag})
	made := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	src := segment.Source{Record: record, Stored: stored, First: 4, Last: 12, Signed: c, Note: string(signed), Keys: testPublic, Made: made}
	if _, err := segment.Write(t.Context(), &b, src); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), entries, keys
}

func verify(t testing.TB, text []byte, keys proof.Keys) error {
	t.Helper()
	_, _, err := segment.Verify(t.Context(), bytes.NewReader(text), keys)
	return err
}

// isNamed reports whether an error says what is wrong with a segment.
func isNamed(err error) bool {
	for _, of := range []error{segment.ErrFormat, segment.ErrDiffers, proof.ErrCheckpoint, proof.ErrSignature} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

func TestASegmentVerifiesByItself(t *testing.T) {
	t.Parallel()
	text, _, keys := written(t, 10)
	b, c, err := segment.Verify(t.Context(), bytes.NewReader(text), keys)
	if err != nil || b.First != 4 || b.Last != 12 || (proof.SegmentWritten{First: b.First, Last: b.Last}).Name() != "4-12.segment" || c.Size != 20 {
		t.Errorf("%+v, %+v, %v", b, c, err)
	}
	if !segment.Is(bytes.NewReader(text)) || segment.Is(strings.NewReader("c2sp.org/tlog-proof@v1")) {
		t.Error("a segment is not told from a receipt")
	}
	_, public, err := note.GenerateKey(nil, "trapeze/test")
	if err != nil {
		t.Fatal(err)
	}
	others, err := proof.ParseKeys(public)
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(t, text, others); !isNamed(err) {
		t.Errorf("with the keys of another log: %v", err)
	}
}

// TestASegmentOfARecordWhoseReadsLagIsWhole: the replica that is read lacks the entries for a second.
func TestASegmentOfARecordWhoseReadsLagIsWhole(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text, _, keys := writtenOf(t, 10, time.Second)
		if err := verify(t, text, keys); err != nil {
			t.Error(err)
		}
	})
}

func TestEveryByteOfASegmentThatIsChangedIsNamed(t *testing.T) {
	t.Parallel()
	text, _, keys := written(t, 10)
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1 << (i % 8)
		if err := verify(t, changed, keys); !isNamed(err) {
			t.Errorf("byte %d of %d: %v", i, len(text), err)
		}
	}
	for i := 0; i < len(text); i += 31 {
		if err := verify(t, text[:i], keys); !isNamed(err) {
			t.Errorf("the first %d bytes of %d: %v", i, len(text), err)
		}
	}
	if err := verify(t, append(bytes.Clone(text), 0), keys); !isNamed(err) {
		t.Errorf("with a byte after its end: %v", err)
	}
}

func TestAnEntryIsReadFromItsSegment(t *testing.T) {
	t.Parallel()
	const each = 100_000 // so that there are some members
	text, entries, _ := written(t, each)
	first, second := t.TempDir(), t.TempDir()
	path := filepath.Join(second, "4-12.segment")
	d := segment.NewDir(first, second)
	defer d.Close()
	if b, err := d.Entry("4-12.segment", 5); b != nil || err != nil {
		t.Errorf("a segment that is not there: %d bytes, %v", len(b), err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries[3:12] {
		if b, err := d.Entry("4-12.segment", e.Position); err != nil || !bytes.Equal(b, e.AppendStored(nil)) {
			t.Errorf("entry %d: %d bytes, %v", e.Position, len(b), err)
		}
	}
	for _, at := range []ledger.Position{1, 3, 13} {
		if _, err := d.Entry("4-12.segment", at); !errors.Is(err, segment.ErrDiffers) {
			t.Errorf("entry %d, which it has not: %v", at, err)
		}
	}
	for _, name := range []string{"../4-12.segment", "4-12.segment.new", "0-12.segment", ""} {
		if _, err := d.Entry(name, 5); !errors.Is(err, segment.ErrFormat) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if b, err := d.Entry("4-12.segment", 5); b != nil || err != nil {
		t.Errorf("a segment that was taken away: %d bytes, %v", len(b), err)
	}
}

func FuzzVerify(f *testing.F) {
	text, _, keys := written(f, 10)
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Add([]byte("begin.json"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := verify(t, b, keys); err == nil && !bytes.Equal(b, text) || err != nil && !isNamed(err) {
			t.Error(err)
		}
	})
}
