package proof

import (
	"fmt"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Hash is a SHA-256 hash: of a leaf, or of a node above it.
type Hash = tlog.Hash

// Gap is the leaf of a position that has no entry: the hash of no bytes. Distributed ledgers skip positions; the embedded one does not.
var Gap = tlog.RecordHash(nil)

// Leaf returns the hash of an entry that a ledger returned as a leaf of the tree. The position of the entry is not part of it: the place in the
// tree is.
func Leaf(e ledger.Entry) Hash {
	return LeafOf(e.AppendStored(nil))
}

// LeafOf is [Leaf] by the stored bytes.
func LeafOf(stored []byte) Hash { return tlog.RecordHash(stored) }

// Tree is what has to be remembered of a tree to make it longer: its size, and the roots of its complete subtrees. The zero value is the
// empty tree. It is not safe for concurrent use.
type Tree struct {
	size int64
	edge []Hash // the roots of the complete subtrees, the largest first
}

// LoadTree reads a tree of so many leaves from its stored hashes.
func LoadTree(size int64, stored tlog.HashReader) (*Tree, error) {
	t := &Tree{size: size}
	if size < 0 {
		return nil, fmt.Errorf("proof: a tree of %d leaves", size)
	}
	var need []int64
	for at, rest := int64(0), uint64(size); rest != 0; {
		level := bits.Len64(rest) - 1
		need = append(need, tlog.StoredHashIndex(level, at>>level))
		at, rest = at+1<<level, rest&^(1<<level)
	}
	if len(need) == 0 {
		return t, nil
	}
	var err error
	if t.edge, err = stored.ReadHashes(need); err != nil {
		return nil, err
	}
	return t, nil
}

// NewTree is the tree of so many leaves whose complete subtrees have these roots, the largest first.
func NewTree(size int64, edge []Hash) (*Tree, error) {
	if size < 0 || bits.OnesCount64(uint64(size)) != len(edge) {
		return nil, fmt.Errorf("proof: %d roots of subtrees of a tree of %d leaves", len(edge), size)
	}
	return &Tree{size, slices.Clone(edge)}, nil
}

// Edge returns the roots of the complete subtrees, the largest first: see [NewTree].
func (t *Tree) Edge() []Hash { return slices.Clone(t.edge) }

// Clone returns a copy.
func (t *Tree) Clone() *Tree { return &Tree{t.size, slices.Clone(t.edge)} }

// Size is the number of leaves.
func (t *Tree) Size() int64 { return t.size }

// Append adds a leaf, and appends to stored the hashes that it completes, in the order of [tlog.StoredHashIndex]: the leaf, then the nodes
// above it.
func (t *Tree) Append(leaf Hash, stored []Hash) []Hash {
	stored = append(stored, leaf)
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.edge) - 1
		leaf = tlog.NodeHash(t.edge[last], leaf)
		t.edge, stored = t.edge[:last], append(stored, leaf)
	}
	t.edge = append(t.edge, leaf)
	t.size++
	return stored
}

// Root is the hash of the whole tree, the Merkle Tree Hash of RFC 6962. That of the empty tree is the hash of nothing.
func (t *Tree) Root() Hash {
	last := len(t.edge) - 1
	if last < 0 {
		root, _ := tlog.TreeHash(0, nil) // reads nothing
		return root
	}
	root := t.edge[last]
	for _, left := range slices.Backward(t.edge[:last]) {
		root = tlog.NodeHash(left, root)
	}
	return root
}
