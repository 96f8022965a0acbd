package moves

import (
	"context"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/workspacestore"
)

// Tree is the Merkle tree over the record.
type Tree interface {
	// Await returns the first checkpoint that has the entry at a position.
	Await(ctx context.Context, at ledger.Position) (proof.Checkpoint, []byte, error)
	// ReadHashes returns stored hashes.
	ReadHashes(indexes []int64) ([]proof.Hash, error)
	// Keys are the public keys of the log, one in each line.
	Keys() string
}

// Views list workspaces.
type Views interface {
	// Workspaces lists the workspaces that have agents, tasks or the like.
	Workspaces(ctx context.Context) ([]string, error)
}

// Parts are what moves are made of.
type Parts struct {
	// Ledger takes the entries of other records as they are: it is not guarded.
	Ledger ledger.Ledger
	Store  *workspacestore.Store
	Views  Views
	Files  artifact.Store // nil: this server keeps none
	Tree   Tree           // nil: it proves nothing, and no workspace leaves
	Access *access.Log
	// Learn tells the caches of entries.
	Learn func([]ledger.Entry)
	// Sealed: the content of this record can be erased.
	Sealed bool
	Now    func() time.Time
}

// Moves is the use cases. Its methods are safe for many goroutines.
type Moves struct {
	Parts
	importing sync.Mutex // held during an import
}

// New returns the use cases of a record.
func New(p Parts) *Moves { return &Moves{Parts: p} }

// Move is how far a workspace has moved.
type Move struct {
	Name    string `json:"name"`
	To      string `json:"to" doc:"Address of the server to which it moves."`
	Log     string `json:"log" doc:"Name of the log from which it moves."`
	Entries int64  `json:"entries" doc:"How many entries move, with those of its tokens."`
	Root    string `json:"root" doc:"Root of the tree whose leaves are these entries alone."`
	Files   int    `json:"artifacts" doc:"How many artifacts move."`
	Here    int64  `json:"here" doc:"How many of the entries this server has."`
	Whole   bool   `json:"whole" doc:"Whether this server takes changes of it. If not, the call has to be repeated."`
	// Position is that of the entry that says so.
	Position ledger.Position `json:"position,omitempty"`
}

// At returns the position up to which the answer is true.
func (m Move) At() ledger.Position { return m.Position }

func moveOf(s *workspace.Sent, log string) Move {
	return Move{Name: s.Name, To: s.To, Log: log, Entries: s.Entries, Root: s.Root, Files: s.Files}
}

// may refuses everybody but admins of the workspace default.
func may(c caller.Caller) error {
	if err := c.May(identity.ManageWorkspaces, "move workspaces"); err != nil {
		return err
	}
	return workspace.May(c.Principal, "move workspaces")
}

// do lets the rules decide a command, and records it.
func (ms *Moves) do(ctx context.Context, c caller.Caller, name string, cmd workspace.Command) (stream.Outcome[workspace.State], error) {
	c.Key = "" // commands are repeated without it
	out, err := ms.Store.Do(ctx, c.Write(""), workspacestore.StreamOf(name), func(s workspace.State, now time.Time) ([]workspace.Event, error) {
		return workspace.Decide(s, cmd, now)
	})
	if err == nil {
		ms.Store.Keep(name, *out.State)
	}
	return out, err
}

func (ms *Moves) refused(ctx context.Context, c caller.Caller, verb, name string, err error) error {
	return ms.Access.Refused(ctx, c.Workspace, c.Actor(), verb, name, err)
}

// sealed is the refusal of a record whose content can be erased.
func sealed() error {
	return refusal.New(refusal.Conflict, "move the record as a whole (docs/backup.md)", "the content of this record can be erased: its keys do not move with a workspace")
}
