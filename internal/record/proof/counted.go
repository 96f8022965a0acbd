package proof

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// The entry that records an export of proofs says how many entries there were, and the root of the tree of these alone. So a receiver can tell that none was left out, although
// one tree has the entries of all workspaces.

const (
	exported   = "record-exported" // the name of its event
	accessKind = "access"          // the kind of its stream
)

// Counted is what there was to export.
type Counted struct {
	Of      string          `json:"of"`      // a workspace, or the stream of a task
	Through ledger.Position `json:"through"` // the position up to which the record was read
	Entries int64           `json:"entries"` // of it, up to there
	Root    Hash            `json:"root"`    // of the tree whose leaves are these entries alone, in their order
}

// isTask reports whether it is of a task.
func (c *Counted) isTask() bool { return strings.Contains(c.Of, "/") }

// has reports whether an entry of a stream counts.
func (c *Counted) has(s ledger.Stream) bool {
	if c.isTask() {
		return string(s) == c.Of
	}
	workspace, _, _ := s.Parts()
	return workspace == c.Of
}

// Export is what a receipt shows of an export.
type Export struct {
	Position ledger.Position `json:"position"` // of the entry that records it
	Counted
	Has   int64 `json:"has"`   // of the entries that there were, with those of which the leaf alone is here
	Whole bool  `json:"whole"` // all of them are here
}

// countedIn returns what an entry says that there was to export; false if it is no such entry.
func countedIn(e *ledger.Entry) (c Counted, ok bool) {
	workspace, kind, _ := e.Stream.Parts()
	if kind != accessKind {
		return c, false
	}
	for _, ev := range e.Events {
		var data struct {
			Counted *Counted `json:"counted"`
		}
		if ev.Name != exported || json.Unmarshal(ev.Data, &data) != nil || data.Counted == nil {
			continue
		}
		own, _, _ := strings.Cut(data.Counted.Of, "/")
		return *data.Counted, own == workspace && data.Counted.Through < e.Position
	}
	return c, false
}

// leafAt is the leaf of an entry in a receipt.
type leafAt struct {
	at     ledger.Position
	stream ledger.Stream // empty: it is withheld
	leaf   Hash
}

// count compares what exports say that there was with what is here. The exports of a workspace count before those of its tasks, which may be among the entries of the former; of
// several tasks the last one. Error: ErrProof for one that tells something false.
func (r *Receipt) count() error {
	if len(r.Exports) == 0 {
		return nil
	}
	of := r.Exports[len(r.Exports)-1].Of
	for i := range r.Exports {
		if e := &r.Exports[i]; !e.isTask() {
			of = e.Of
		}
	}
	r.Exports = slices.DeleteFunc(r.Exports, func(e Export) bool { return e.Of != of })
	slices.SortStableFunc(r.Exports, func(a, b Export) int { return cmp.Compare(a.Through, b.Through) })
	tree, next := new(Tree), 0
	var nodes []Hash
	for i := range r.Exports {
		e := &r.Exports[i]
		for ; next < len(r.leaves) && r.leaves[next].at <= e.Through; next++ {
			if l := &r.leaves[next]; l.stream == "" || e.has(l.stream) {
				nodes = tree.Append(l.leaf, nodes[:0])
			}
		}
		e.Has = tree.Size()
		if root := tree.Root(); e.Has > e.Entries || e.Has == e.Entries && root != e.Root {
			return fmt.Errorf("%w: entry %d says that %s has %d entries up to position %d, with the root %s; that is false: %d are here, with the root %s",
				ErrProof, e.Position, e.Of, e.Entries, e.Through, e.Root, e.Has, root)
		}
		e.Whole = e.Has == e.Entries
	}
	return nil
}
