package stream_test

import (
	"context"
	"fmt"
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

// heard is a ledger whose appends return when the node has learned of the entry, as those of a record that servers share do. It counts the reads of streams.
type heard struct {
	ledger.Ledger
	learn func(ledger.Entry)
	reads int
}

func (h *heard) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	at, err := h.Ledger.Append(ctx, e, expect)
	if err == nil {
		e.Position = at
		h.learn(e)
	}
	return at, err
}

func (h *heard) Stream(ctx context.Context, of ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	h.reads++
	return h.Ledger.Stream(ctx, of, after, limit)
}

func TestANodeThatHearsOfItsOwnEntriesAndOfOthersReadsNothingAgain(t *testing.T) {
	l := &heard{Ledger: ledgertest.NewDouble(ledgertest.Faults{})}
	k := node(t, l)
	l.learn = func(e ledger.Entry) {
		k.Learn(e)
		for n := range 2000 { // of other streams, meanwhile
			k.Learn(ledger.Entry{Stream: ledger.Stream(fmt.Sprint("default/task/other", n)), Position: e.Position + 1 + ledger.Position(n)})
		}
	}
	for i, name := range []string{"anna", "bert", "cleo"} {
		if s, err := do(t, k, take(name)); s != name || err != nil {
			t.Fatal(s, err)
		}
		if l.reads > 1 { // of the stream that does not exist yet
			t.Fatalf("change %d: %d reads", i+1, l.reads)
		}
	}
}

func TestWhatWasReadBeforeManyEntriesWereLearnedIsNotCached(t *testing.T) {
	l := ledgertest.NewDouble(ledgertest.Faults{})
	one := node(t, l)
	if _, err := do(t, one, take("anna")); err != nil {
		t.Fatal(err)
	}
	late := &slow{Ledger: l}
	two := node(t, late)
	late.read = func() {
		late.read = nil
		if _, err := do(t, one, take("bert")); err != nil {
			t.Error(err)
		}
		two.Learn(ledger.Entry{Stream: place, Position: 2, Version: 2})
		for n := range ledger.Position(20000) { // more than are remembered
			two.Learn(ledger.Entry{Stream: ledger.Stream(fmt.Sprint("default/task/other", n)), Position: 3 + n})
		}
	}
	if s := cached(t, two); s != "anna" {
		t.Fatalf("%s: the test shows nothing", s)
	}
	if s := cached(t, two); s != "bert" {
		t.Errorf("%s stays in the cache", s)
	}
}

func TestWhatOthersMakeIsGoneOnWithWithoutARead(t *testing.T) {
	l := &heard{Ledger: ledgertest.NewDouble(ledgertest.Faults{}), learn: func(ledger.Entry) {}}
	one, two := node(t, l), node(t, l)
	if _, err := do(t, one, take("anna")); err != nil {
		t.Fatal(err)
	}
	entries, err := l.Read(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	two.Learn(entries[0])
	l.reads = 0
	if s, err := do(t, two, take("bert")); s != "bert" || err != nil || l.reads > 0 {
		t.Errorf("%s, %v, with %d reads", s, err, l.reads)
	}
	if entries, err = l.Read(t.Context(), 0, 10); err != nil {
		t.Fatal(err)
	}
	three := node(t, l)
	three.Learn(entries[0])
	three.Learn(entries[1])
	three.Purge()
	three.Learn(entries[0]) // again, as when views are built again
	if s := cached(t, three); s != "bert" {
		t.Errorf("after the first entry again: %s", s)
	}
}
