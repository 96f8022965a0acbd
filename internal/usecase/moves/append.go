package moves

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/move"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// errPause ends the reading of a file when the call has to be answered.
var errPause = errors.New("moves: the call is answered before the import has ended")

// appending appends the entries of a file that are not here yet, and stores its artifacts.
type appending struct {
	*Moves
	name        string
	until       time.Time       // when the call has to be answered
	had         *move.Selection // the entries of the workspace that are here
	seen        *move.Selection // those of the file that were read
	before      int64           // how many were here at the beginning
	root        proof.Hash      // of those
	heads       map[ledger.Stream]ledger.Position
	first, last ledger.Position
	received    bool // the entry that follows them is here
}

// resume finds out which entries of the workspace are here. Nobody else writes any, so they are the first ones of the file.
func (ms *Moves) resume(ctx context.Context, name string, file *move.File) (*appending, error) {
	a := &appending{Moves: ms, name: name, had: move.Select(name), seen: move.Select(name), heads: map[ledger.Stream]ledger.Position{}}
	after, err := ms.begun(ctx, name)
	if err != nil {
		return nil, err
	}
	last, err := ms.Ledger.Last(ctx)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	var noted error
	err = ledger.Through(ctx, ms.Ledger, after, last, func(e *ledger.Entry) error {
		if of, _, _ := e.Stream.Parts(); of == name && e.Events[0].Name == proof.Received && file.Sent.Entries == a.had.Size() {
			a.received = true
			return nil
		}
		noted = a.note(e)
		return noted
	})
	if err != nil {
		return nil, cmp.Or(noted, stream.Unavailable(err))
	}
	a.before, a.root = a.had.Size(), a.had.Root()
	return a, nil
}

// note notes an entry that is here, if it is one of the workspace.
func (a *appending) note(e *ledger.Entry) error {
	of, err := a.had.Add(e)
	if err != nil || !of {
		return err
	}
	if a.first == 0 {
		a.first = e.Position
	}
	a.last, a.heads[e.Stream] = e.Position, e.Position
	return nil
}

// Entry implements [move.Visitor].
func (a *appending) Entry(ctx context.Context, e ledger.Entry) error {
	if _, err := a.seen.Add(&e); err != nil {
		return err
	}
	if n := a.seen.Size(); n <= a.before {
		if n == a.before && a.seen.Root() != a.root {
			return differs(a.name)
		}
		return nil
	}
	if time.Now().After(a.until) {
		return errPause
	}
	var err error
	if e.Position, err = a.append(ctx, e); err != nil {
		return err
	}
	a.Learn([]ledger.Entry{e})
	return a.note(&e)
}

// append appends an entry, and tries again after conflicts that a distributed ledger reports without a cause. Every one expects what it follows, also in streams without
// numbers: so each is here once, and in the order of the file, although several front ends import it at once or an append arrives late.
func (a *appending) append(ctx context.Context, e ledger.Entry) (ledger.Position, error) {
	expect := a.heads[e.Stream]
	for {
		at, err := a.Ledger.Append(ctx, e, expect)
		switch {
		case err == nil:
			return at, nil
		case !errors.Is(err, ledger.ErrConflict):
			return 0, stream.Refuse(err)
		}
		there, err := a.Ledger.Stream(ctx, e.Stream, expect, 1)
		if err != nil {
			return 0, stream.Unavailable(err)
		}
		if len(there) > 0 {
			return 0, refusal.New(refusal.Conflict, "repeat the call when no other import of it runs", "another import of the workspace %s has gone on meanwhile", a.name)
		}
	}
}

// File implements [move.Visitor].
func (a *appending) File(ctx context.Context, digest string, r io.Reader) error {
	if time.Now().After(a.until) {
		return errPause
	}
	if _, err := a.Files.Touch(ctx, artifact.Key{Workspace: a.name, Digest: artifact.OfHex(digest)}); err == nil {
		return nil
	}
	_, err := a.Files.Put(ctx, a.name, r)
	return err
}
