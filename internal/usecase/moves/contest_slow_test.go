//go:build slow

package moves_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// reads has an admin look at a task, which is recorded in a stream without numbers.
func (s *side) reads(task string) {
	s.Helper()
	if _, err := s.app.Tasks.Show(s.Context(), as("red", identity.Admin, "ann"), task); err != nil {
		s.Fatal(err)
	}
}

// contest imports a file at a front end, which stops before the first append that when names until another front end has imported the same file, as far as until allows: it
// fails after so many entries. It reports whether there was such an append. Whatever the two did, a repeated call opens the workspace, with the entries of the source.
func contest(t *testing.T, a *side, file []byte, when func(ledger.Entry) bool, until int64) (met bool) {
	t.Helper()
	one := open(t, "b")
	other := frontEnd(t, "b", one.ledger.Ledger, one.files)
	one.ledger.before = func(e ledger.Entry) {
		if met || !when(e) {
			return
		}
		met = true
		other.ledger.left.Store(until)
		if _, err := other.receive(file); err != nil {
			other.refuses(err, refusal.Unavailable)
		}
		other.ledger.left.Store(1 << 40)
	}
	m, err := one.receive(file)
	if code := refusal.CodeOf(err); err != nil && code != refusal.Conflict || err == nil && !m.Whole {
		t.Errorf("the one that was late: %+v, %v", m, err)
	}
	for _, s := range []*side{other, one} {
		if m, err := s.receive(file); err != nil || !m.Whole {
			t.Errorf("after two imports at once the workspace does not open: %+v, %v", m, err)
		}
	}
	want, got := a.entries("red"), one.entries("red")
	if len(got) < len(want) || !slices.EqualFunc(want, got[:len(want)], bytes.Equal) || slices.ContainsFunc(got[len(want):], func(e []byte) bool { return !bytes.Contains(e, []byte(proof.Received)) }) {
		t.Errorf("there are\n%s\nnot\n%s\nand those that say so", bytes.Join(got, []byte("\n")), bytes.Join(want, []byte("\n")))
	}
	return met
}

// TestTwoImportsAtOnceOpenAWorkspace at two front ends of a record: one of them has each of its appends in turn on its way while the other imports a part of the file, or all of it.
func TestTwoImportsAtOnceOpenAWorkspace(t *testing.T) {
	a := open(t, "a")
	_, task := a.furnish()
	a.reads(task)
	file := a.file()
	for _, until := range []int64{1, 3, 1 << 40} {
		n, met := 0, true
		for ; met; n++ {
			at := 0
			met = contest(t, a, file, func(ledger.Entry) bool { at++; return at > n }, until)
		}
		if n < 10 {
			t.Errorf("the two met before %d appends", n-1)
		}
	}
}
