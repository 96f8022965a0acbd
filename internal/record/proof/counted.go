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
	exported = "record-exported" // the name of its event
	// Received is the name of the event after which a workspace that moved here goes on. What its earlier entries say of positions is of another log.
	Received   = "workspace-received"
	accessKind = "access" // the kind of its stream
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

// in is the workspace of what was exported.
func (c *Counted) in() string {
	name, _, _ := strings.Cut(c.Of, "/")
	return name
}

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
	// Moved: the workspace was elsewhere then. Through is a position of another log, and as many of the first entries that are here are compared.
	Moved bool `json:"moved,omitempty"`
}

// through is the position up to which its entries are here at most.
func (e *Export) through() ledger.Position {
	if e.Moved {
		return e.Position - 1
	}
	return e.Through
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
		return *data.Counted, data.Counted.in() == workspace
	}
	return c, false
}

// receivedIn returns the workspace whose entries up to this one are those of another log; false if it is no such entry.
func receivedIn(e *ledger.Entry) (workspace string, ok bool) {
	workspace, kind, _ := e.Stream.Parts()
	return workspace, kind == accessKind && e.Events[0].Name == Received
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
	r.Exports = slices.DeleteFunc(r.Exports, func(e Export) bool { return !e.Moved && e.Through >= e.Position })
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
	slices.SortStableFunc(r.Exports, func(a, b Export) int { return cmp.Compare(a.through(), b.through()) })
	tree, next := new(Tree), 0
	var nodes []Hash
	for i := range r.Exports {
		e := &r.Exports[i]
		for ; next < len(r.leaves) && r.leaves[next].at <= e.through(); next++ {
			if l := &r.leaves[next]; l.stream == "" || e.has(l.stream) {
				nodes = tree.Append(l.leaf, nodes[:0])
				r.countMoved(tree)
			}
		}
		if e.Moved {
			continue
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

// countMoved compares what exports where the workspace was before say with as many of its first entries. It never tells that one is false: entries between may not be here.
func (r *Receipt) countMoved(tree *Tree) {
	for i := range r.Exports {
		if e := &r.Exports[i]; e.Moved && tree.Size() <= e.Entries {
			e.Has, e.Whole = tree.Size(), tree.Size() == e.Entries && tree.Root() == e.Root
		}
	}
}
