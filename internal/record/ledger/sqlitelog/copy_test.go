package sqlitelog

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

func TestACopyIsTheSameAndGoesOn(t *testing.T) {
	from, to := open(t, filepath.Join(t.TempDir(), "a.db"), Options{}), open(t, filepath.Join(t.TempDir(), "b.db"), Options{})
	ends := map[ledger.Stream]ledger.Position{}
	add := func(l *Log, i int) error {
		s := ledger.StreamOf("default", "task", fmt.Sprint("t", i%3))
		e := ledgertest.NewEntry(s, uint64(i/3+1), fmt.Sprint(i)) //nolint:gosec // never negative
		expect := ends[s]
		if i%3 == 2 { // a stream without compare-and-set
			e.Version, expect = 0, ledger.Any
		}
		e.Time = e.Time.Add(time.Duration(i) * time.Second)
		at, err := l.Append(t.Context(), e, expect)
		ends[s] = at
		return err
	}
	for i := range 60 {
		if err := add(from, i); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := from.Read(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Copy(t.Context(), entries[:25]); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string][]ledger.Entry{"a gap": entries[26:], "again": entries[20:], "a gap within": append(entries[25:30:30], entries[31])} {
		if err := to.Copy(t.Context(), wrong); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if last, err := to.Last(t.Context()); last != 25 || err != nil || to.Err() != nil {
			t.Fatalf("%s: the copy ends at %d, %v, %v", name, last, err, to.Err())
		}
	}
	if err := to.Copy(t.Context(), entries[25:]); err != nil {
		t.Fatal(err)
	}
	got, err := to.Read(t.Context(), 0, 100)
	if err != nil || !reflect.DeepEqual(got, entries) {
		t.Errorf("the copy differs, %v", err)
	}
	for i := 60; i < 66; i++ { // both go on in the same way
		if err := add(to, i); err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
	}
}
