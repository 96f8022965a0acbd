package proof

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// recount is the count of an export, which the verification of a record makes again.
type recount struct {
	at ledger.Position // of the entry that records the export
	Counted
}

// counts notes an entry that says how many entries an export had.
func (v *verifier) counts(e *ledger.Entry) {
	if c, ok := countedIn(e); ok && v.Newest == 0 {
		v.counted = append(v.counted, recount{e.Position, c})
	}
}

// countAgain makes the counts of exports again, which only a record that verifies has. Of what was put away nobody can tell of which workspace it is: counts over it are not made.
func (v *verifier) countAgain(ctx context.Context) error {
	list := v.counted
	if v.firstAway > 0 {
		list = slices.DeleteFunc(list, func(c recount) bool { return c.Through >= v.firstAway })
	}
	if len(list) == 0 || len(v.report.Findings) > 0 {
		return nil
	}
	began := time.Now()
	defer func() { v.report.Recount = time.Since(began) }()
	slices.SortStableFunc(list, func(a, b recount) int { return cmp.Compare(a.Through, b.Through) })
	trees := map[string]*Tree{} // by workspace, or task
	for _, c := range list {
		trees[c.Of] = new(Tree)
	}
	reading, cancel := context.WithCancel(ctx)
	entries := pages(reading, v.record, 0, list[len(list)-1].Through, func(s *scanned) { s.leaf = LeafOf(s.Stored) })
	defer func() {
		cancel()
		for p := range entries {
			<-p.ready
		}
	}()
	for p := range entries {
		<-p.ready
		if p.err != nil {
			return p.err
		}
		for i := range p.entries {
			s := &p.entries[i]
			if s.Err != nil {
				return s.Err
			}
			for len(list) > 0 && list[0].Through < s.Entry.Position {
				v.compareCount(list[0], trees)
				list = list[1:]
			}
			workspace, _, _ := s.Entry.Stream.Parts()
			for _, of := range [...]string{workspace, string(s.Entry.Stream)} {
				if t := trees[of]; t != nil {
					v.nodes = t.Append(s.leaf, v.nodes[:0])
				}
			}
		}
	}
	for _, c := range list {
		v.compareCount(c, trees)
	}
	return ctx.Err()
}

// compareCount compares a count with what there is up to its position.
func (v *verifier) compareCount(c recount, trees map[string]*Tree) {
	v.report.Counted++
	t := trees[c.Of]
	if root := t.Root(); t.Size() != c.Entries || root != c.Root {
		v.found(c.at, "the export that this entry records is said to have %d entries of %s up to position %d, with the root %s; there are %d, with the root %s", c.Entries, c.Of, c.Through, c.Root, t.Size(), root)
	}
}
