package stream_test

import (
	"context"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

func cached(t *testing.T, k stream.Kind[string, taken]) string {
	t.Helper()
	f, err := k.Load(t.Context(), place, false)
	if err != nil {
		t.Fatal(err)
	}
	return f.State
}

func TestANodeThatLearnsOfAnEntryHasItWhereItsCacheAnswers(t *testing.T) {
	l := ledgertest.NewDouble(ledgertest.Faults{})
	one, two := node(t, l), node(t, l)
	for _, name := range []string{"anna", "bert", "cleo", "dora"} {
		if _, err := do(t, one, take(name)); err != nil {
			t.Fatal(err)
		}
		if name == "anna" && cached(t, two) != "anna" {
			t.Fatal("the first is not read")
		}
	}
	entries, err := l.Read(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if s := cached(t, two); s != "anna" {
		t.Fatalf("%s: nothing is cached, and the test shows nothing", s)
	}
	two.Learn(entries[1])
	if s := cached(t, two); s != "bert" {
		t.Errorf("after the next entry: %s", s)
	}
	two.Learn(entries[0])
	if s := cached(t, two); s != "bert" {
		t.Errorf("after an old entry: %s", s)
	}
	two.Learn(entries[3]) // one between is missing: the cached fold is of no use
	if s := cached(t, two); s != "dora" {
		t.Errorf("after the last entry: %s", s)
	}
}

// slow is a ledger whose reads of streams can be held up.
type slow struct {
	ledger.Ledger
	read func()
}

func (s *slow) Stream(ctx context.Context, of ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	entries, err := s.Ledger.Stream(ctx, of, after, limit)
	if s.read != nil {
		s.read()
	}
	return entries, err
}

func TestWhatWasReadBeforeANewerEntryWasLearnedIsNotCached(t *testing.T) {
	l := ledgertest.NewDouble(ledgertest.Faults{})
	one := node(t, l)
	if _, err := do(t, one, take("anna")); err != nil {
		t.Fatal(err)
	}
	late := &slow{Ledger: l}
	two := node(t, late)
	late.read = func() { // between the read and its answer
		late.read = nil
		if _, err := do(t, one, take("bert")); err != nil {
			t.Error(err)
		}
		entries, err := l.Read(t.Context(), 1, 10)
		if err != nil || len(entries) != 1 {
			t.Error(entries, err)
			return
		}
		two.Learn(entries[0])
	}
	if s := cached(t, two); s != "anna" {
		t.Fatalf("%s: the test shows nothing", s)
	}
	if s := cached(t, two); s != "bert" {
		t.Errorf("%s stays in the cache", s)
	}
}
