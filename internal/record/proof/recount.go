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
	moved bool // it was made where the workspace was before: Through was a position of another log
	same  bool // as many of the first entries have that root
}

// counts notes an entry that says how many entries an export had, and one before which a workspace was elsewhere.
func (v *verifier) counts(e *ledger.Entry) {
	if v.Newest != 0 {
		return
	}
	if c, ok := countedIn(e); ok {
		v.counted = append(v.counted, recount{at: e.Position, Counted: c})
	}
	if name, ok := receivedIn(e); ok {
		for i := range v.counted {
			if c := &v.counted[i]; c.in() == name && !c.moved {
				c.moved, c.Through = true, c.at-1 // its entries were before it there, too
			}
		}
	}
}

// countAgain makes the counts of exports again, which only a record that verifies has. Of what was put away nobody can tell of which workspace it is: counts over it are not made.
func (v *verifier) countAgain(ctx context.Context) error {
	v.counted = slices.DeleteFunc(v.counted, func(c recount) bool { return c.Through >= c.at }) // it counts itself
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
	trees, moved := map[string]*Tree{}, map[string][]*recount{} // by workspace, or task
	for i := range list {
		c := &list[i]
		if trees[c.Of] = new(Tree); c.moved {
			moved[c.Of] = append(moved[c.Of], c)
		}
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
					compareMoved(moved[of], t)
				}
			}
		}
	}
	for _, c := range list {
		v.compareCount(c, trees)
	}
	return ctx.Err()
}

// compareMoved compares the counts of a workspace that moved here, or of a task of it, with the tree of as many of its first entries: they are here in the same order.
func compareMoved(list []*recount, t *Tree) {
	for _, c := range list {
		if c.Entries == t.Size() {
			c.same = t.Root() == c.Root
		}
	}
}

// compareCount compares a count with what there is up to its position.
func (v *verifier) compareCount(c recount, trees map[string]*Tree) {
	v.report.Counted++
	t := trees[c.Of]
	if c.moved {
		if !c.same && c.Entries > 0 {
			v.found(c.at, "the export that this entry records, made where the workspace was before, is said to have the first %d entries of %s, with the root %s: those that are here have another one", c.Entries, c.Of, c.Root)
		}
		return
	}
	if root := t.Root(); t.Size() != c.Entries || root != c.Root {
		v.found(c.at, "the export that this entry records is said to have %d entries of %s up to position %d, with the root %s; there are %d, with the root %s", c.Entries, c.Of, c.Through, c.Root, t.Size(), root)
	}
}
