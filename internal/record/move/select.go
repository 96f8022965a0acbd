package move

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

const (
	accessKind   = "access"
	artifactKind = "artifact"
	tokenKind    = "token"
)

// Selection selects the entries that move with a workspace, among those of a record in their order: its own, and those of its tokens, which are in
// the workspace default. It counts them, and knows which artifacts they have.
type Selection struct {
	name   string
	tokens map[ledger.Stream]bool
	files  map[string]bool
	tree   *proof.Tree
	nodes  []proof.Hash
}

// Select returns a selection of the entries of a workspace.
func Select(name string) *Selection {
	return &Selection{name: name, tokens: map[ledger.Stream]bool{}, files: map[string]bool{}, tree: new(proof.Tree)}
}

// Add reports whether an entry moves, and counts it if it does. Error: ErrSealed.
func (s *Selection) Add(e *ledger.Entry) (bool, error) {
	of, kind, id := e.Stream.Parts()
	switch {
	case of == s.name:
	case of == identity.DefaultWorkspace && kind == tokenKind:
		if e.Version == 1 && s.isToken(e, id) {
			s.tokens[e.Stream] = true
		}
		if !s.tokens[e.Stream] {
			return false, nil
		}
	default:
		return false, nil
	}
	if e.Enc == ledger.EncSealed {
		return false, fmt.Errorf("%w (position %d)", ErrSealed, e.Position)
	}
	if kind == artifactKind && of == s.name {
		for _, ev := range e.Events {
			s.files[id] = ev.Name == "artifact-stored"
		}
	}
	s.nodes = s.tree.Append(proof.Leaf(*e), s.nodes[:0])
	return true, nil
}

// isToken reports whether an entry makes a token of the workspace.
func (s *Selection) isToken(e *ledger.Entry, id string) bool {
	for _, ev := range e.Events {
		var made identity.TokenCreated
		if ev.Name == made.EventName() && json.Unmarshal(ev.Data, &made) == nil && made.Workspace == s.name && made.ID == id {
			return true
		}
	}
	return false
}

// Size is how many entries were selected.
func (s *Selection) Size() int64 { return s.tree.Size() }

// Root is the root of the tree whose leaves are these entries alone.
func (s *Selection) Root() proof.Hash { return s.tree.Root() }

// Files are the digests of the artifacts that the workspace has, sorted.
func (s *Selection) Files() (list []string) {
	for d, kept := range s.files {
		if kept {
			list = append(list, d)
		}
	}
	slices.Sort(list)
	return list
}

// Count says in what moves what was selected, with those files that are there.
func (s *Selection) Count(to *workspace.Sent, files []string) {
	to.Entries, to.Root = s.Size(), s.Root().String()
	to.Files, to.FilesRoot = len(files), filesRoot(files)
}
