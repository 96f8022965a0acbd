package moves

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/move"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/workspacestore"
)

// worksFor is how long a call works before it answers how far it came.
const worksFor = 15 * time.Second

// ReceiveInput names a file to import.
type ReceiveInput struct {
	To    string            `json:"to" doc:"Address at which the caller calls this server: the file must name it."`
	Parts []artifact.Digest `json:"parts" minItems:"1" doc:"Digests of the artifacts, stored here before, that are the file, one after the other."`
	Keys  string            `json:"keys,omitempty" doc:"Public keys of the source that the caller has from elsewhere, one in each line. If omitted, those in the file count, which show that it is whole and not who made it."`
}

// Import appends what a file has to this record: the workspace, as it was at the source. Nothing is written before the whole file is verified, and nothing of the
// workspace is read or changed before all of it is here. A call that ends early may be repeated, and goes on where it ended; one that is repeated later changes nothing.
func (ms *Moves) Import(ctx context.Context, c caller.Caller, in ReceiveInput) (Move, error) {
	m, err := ms.importFile(ctx, c, in)
	if err != nil {
		return m, ms.refused(ctx, c, "import-workspace", m.Name, err)
	}
	return m, nil
}

func (ms *Moves) importFile(ctx context.Context, c caller.Caller, in ReceiveInput) (m Move, err error) {
	if err := may(c); err != nil {
		return m, err
	}
	switch {
	case ms.Sealed:
		return m, sealed()
	case ms.Files == nil:
		return m, refusal.New(refusal.Conflict, "let it move to a server that keeps artifacts", "this server keeps no artifacts")
	}
	if !ms.importing.TryLock() {
		return m, refusal.New(refusal.Unavailable, "repeat the call later", "another workspace is being imported")
	}
	defer ms.importing.Unlock()
	file, err := ms.read(ctx, in, nil)
	if err != nil {
		return m, err
	}
	m = moveOf(&file.Sent, file.Begin.Log)
	if m.To != in.To {
		return m, refusal.New(refusal.Conflict, "import it there: it moves to one server alone", "the workspace %s moves to %s, and this server was called at %s", m.Name, m.To, in.To)
	}
	if err := ms.isFree(ctx, m.Name, file); err != nil {
		return m, err
	}
	out, err := ms.do(ctx, c, m.Name, workspace.Receive{By: c.Principal, Sent: file.Sent, Log: m.Log})
	if err != nil {
		return m, err
	}
	if m.Position = out.At; !out.State.IsArriving() { // it was imported before
		m.Here, m.Whole = m.Entries, true
		return m, nil
	}
	m, err = ms.goOn(ctx, c, m, in, file)
	if err == nil {
		return m, nil
	}
	f, found := ms.Store.Find(ctx, m.Name) // another front end may have ended it
	if found != nil || f.State.IsArriving() {
		return m, err
	}
	m.Here, m.Whole, m.Position = m.Entries, true, f.Head
	return m, nil
}

// goOn appends what is not here yet, and opens the workspace after the last of it.
func (ms *Moves) goOn(ctx context.Context, c caller.Caller, m Move, in ReceiveInput, file *move.File) (Move, error) {
	if err := ms.Store.Settle(ctx); err != nil {
		return m, err
	}
	a, err := ms.resume(ctx, m.Name, file)
	if err != nil {
		return m, err
	}
	a.until = time.Now().Add(worksFor)
	_, err = ms.read(ctx, in, a)
	if m.Here = a.had.Size(); errors.Is(err, errPause) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if a, err = ms.resume(ctx, m.Name, file); err != nil {
		return m, err
	}
	if a.before != m.Entries || a.root.String() != m.Root {
		return m, differs(m.Name)
	}
	return ms.arrive(ctx, c, m, file, a)
}

// differs is the refusal of a workspace of which something is here that the file does not have.
func differs(name string) error {
	return refusal.New(refusal.Conflict, "ask the operator of the server: nothing of the workspace is read or changed", "what is here of the workspace %s is not what the file has", name)
}

// read reads the file, and gives it to a visitor.
func (ms *Moves) read(ctx context.Context, in ReceiveInput, to move.Visitor) (*move.File, error) {
	parts := &parts{ctx: ctx, files: ms.Files, left: in.Parts}
	defer parts.close()
	file, err := move.Read(ctx, parts, in.Keys, to)
	return file, unread(err)
}

// isFree refuses (conflict) a name that anything has here, unless it came by the same file.
func (ms *Moves) isFree(ctx context.Context, name string, file *move.File) error {
	f, err := ms.Store.Find(ctx, name)
	if err != nil || f.State.From == file.Begin.Log && f.State.Moves == file.Sent.Root {
		return err
	}
	names, err := ms.Views.Workspaces(ctx)
	if err != nil {
		return stream.Unavailable(err)
	}
	if slices.Contains(names, name) {
		return refusal.New(refusal.Conflict, "let it move to another server: a name is never given twice", "there is, or was, another workspace %s on this server", name)
	}
	return nil
}

// arrive opens the workspace, all of whose entries are here.
func (ms *Moves) arrive(ctx context.Context, c caller.Caller, m Move, file *move.File, a *appending) (Move, error) {
	if !a.received {
		err := ms.Access.Append(ctx, m.Name, caller.System(m.Name, "import", c.Actor()).Actor(), access.WorkspaceReceived{
			Log: m.Log, Checkpoint: file.Checkpoint, PublicKeys: file.Begin.PublicKeys, Entries: m.Entries, Root: m.Root, First: uint64(a.first), Last: uint64(a.last),
		})
		if err != nil {
			return m, err
		}
	}
	out, err := ms.do(ctx, c, m.Name, workspace.Arrive{By: c.Principal, Name: m.Name, First: uint64(a.first), Last: uint64(a.last)})
	if err != nil {
		return m, err
	}
	m.Position, m.Whole = out.At, true
	return m, nil
}

// unread returns the refusal of a file that does not verify. Other errors are returned unchanged.
func unread(err error) error {
	switch {
	case errors.Is(err, move.ErrCut), errors.Is(err, move.ErrFormat), errors.Is(err, move.ErrDiffers):
		return refusal.New(refusal.Invalid, "copy the file again, or export the workspace again; nothing of it was written", "the file is not imported: %s", strings.TrimPrefix(err.Error(), "move: "))
	case errors.Is(err, move.ErrSealed):
		return sealed()
	}
	return err
}

// begun returns the position at which a workspace began to arrive.
func (ms *Moves) begun(ctx context.Context, name string) (at ledger.Position, err error) {
	err = stream.Each(ctx, ms.Ledger, workspacestore.StreamOf(name), func(e ledger.Entry) error {
		if e.Events[0].Name == (workspace.Arriving{}).EventName() {
			at = e.Position
		}
		return nil
	})
	return at, err
}
