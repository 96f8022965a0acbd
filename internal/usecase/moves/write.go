package moves

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/move"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/workspacestore"
)

// signsWithin is how long a checkpoint is waited for. One is signed each second, if the disk is not full.
const signsWithin = 5 * time.Second

// Write writes the file of a workspace that left. Each time it has the same entries and artifacts. Once bytes are written, an error can only cut the file short.
func (ms *Moves) Write(ctx context.Context, c caller.Caller, name string, w io.Writer) error {
	src, err := ms.source(ctx, c, name)
	if err != nil {
		return ms.refused(ctx, c, "export-workspace", name, err)
	}
	if err := move.Write(ctx, w, src); err != nil {
		return stream.Unavailable(err)
	}
	return nil
}

func (ms *Moves) source(ctx context.Context, c caller.Caller, name string) (src move.Source, err error) {
	if err := may(c); err != nil {
		return src, err
	}
	if err := workspace.CheckName(name); err != nil {
		return src, err
	}
	f, err := ms.Store.Find(ctx, name)
	if err == nil {
		err = f.State.CheckExists(name)
	}
	if err != nil {
		return src, err
	}
	if f.State.Sent == nil {
		return src, refusal.New(refusal.Conflict, "have it leave first", "the workspace %s does not move", name)
	}
	src = move.Source{Sent: *f.State.Sent, Record: ms.Ledger, Open: func(ctx context.Context, digest string) (io.ReadCloser, int64, error) {
		r, info, err := ms.Files.Get(ctx, artifact.Key{Workspace: name, Digest: artifact.OfHex(digest)})
		return r, info.Size, err
	}}
	if _, src.Files, err = ms.count(ctx, name, ledger.Position(src.Sent.Through)); err != nil {
		return src, err
	}
	src.Begin = move.Begin{Log: proof.LogOf(ms.Tree.Keys()), Made: ms.Now().UTC(), PublicKeys: ms.Tree.Keys()}
	src.Proof, err = ms.prove(ctx, name)
	return src, err
}

// prove returns the proof of the entry that says what was sent.
func (ms *Moves) prove(ctx context.Context, name string) ([]byte, error) {
	var sent ledger.Entry
	err := stream.Each(ctx, ms.Ledger, workspacestore.StreamOf(name), func(e ledger.Entry) error {
		if e.Events[0].Name == (workspace.Sent{}).EventName() {
			sent = e
		}
		return nil
	})
	if err == nil && sent.Position == 0 {
		err = stream.Unavailable(errors.New("the entry that says what was sent is missing"))
	}
	if err != nil {
		return nil, err
	}
	signing, cancel := context.WithTimeout(ctx, signsWithin)
	defer cancel()
	checkpoint, note, err := ms.Tree.Await(signing, sent.Position)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	raw, err := sent.Encode()
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	p, err := proof.Prove(raw, int64(sent.Position-1), checkpoint.Size, ms.Tree, note) //nolint:gosec // a position
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	return p.Append(nil), nil
}
