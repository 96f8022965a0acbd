package history

import (
	"context"
	"errors"
	"io"

	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// count counts the entries of a task, or of the workspace, that there are to export, and makes a tree of them alone. It counts nothing if one cannot be read and the
// export goes on without it.
func (h *History) count(ctx context.Context, c caller.Caller, t task.Task, in ExportInput) (*proof.Counted, error) {
	last, err := h.ledger.Last(ctx)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	of, through, read := c.Workspace, ledger.Position(0), h.page
	if t.ID != "" {
		own := taskstore.StreamOf(c.Workspace, t.ID)
		of, read = string(own), func(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
			return h.ledger.Stream(ctx, own, after, limit)
		}
	}
	tree, nodes := new(proof.Tree), []proof.Hash(nil)
	for through < last {
		entries, err := read(ctx, through, exportPage)
		if _, damaged := errors.AsType[*ledger.Damaged](err); damaged && in.SkipDamaged {
			return nil, nil //nolint:nilnil // see above
		}
		if err != nil {
			return nil, stream.Unavailable(err)
		}
		for _, e := range entries {
			if through = e.Position; through > last {
				break
			}
			if workspace, _, _ := e.Stream.Parts(); workspace == c.Workspace {
				nodes = tree.Append(proof.Leaf(e), nodes[:0])
			}
		}
		if len(entries) == 0 {
			break
		}
	}
	if through = min(through, last); t.ID != "" {
		through = last // the stream has no more
	}
	return &proof.Counted{Of: of, Through: through, Entries: tree.Size(), Root: tree.Root()}, nil
}

// exportProofs writes the proofs that entries are in the tree of one checkpoint, up to the one that records the export. Of entries of which a part is withheld from the caller
// there is the leaf alone. Those that are damaged are left out, if the caller goes on after them.
func (h *History) exportProofs(ctx context.Context, c caller.Caller, t task.Task, in ExportInput, made ledger.Entry, w io.Writer) error {
	signing, cancel := context.WithTimeout(ctx, signsWithin)
	checkpoint, note, err := h.tree.Await(signing, made.Position)
	cancel()
	if err != nil {
		return stream.Unavailable(err)
	}
	p := prover{tree: h.tree, w: w, checkpoint: checkpoint, note: note}
	err = h.eachEntry(ctx, c, t, in, func(e ledger.Entry) error {
		if e.Position > made.Position {
			return nil
		}
		return p.prove(e)
	}, func(view.Row) error { return nil })
	if err != nil || t.ID == "" {
		return err
	}
	own, err := h.ledger.Stream(ctx, made.Stream, made.Position-1, 1) // as it was recorded
	if err == nil && len(own) == 0 {
		err = errors.New("the entry that records the export is missing")
	}
	if err != nil {
		return stream.Unavailable(err)
	}
	return p.prove(own[0])
}

// prover writes the proofs of entries.
type prover struct {
	tree       Tree
	w          io.Writer
	checkpoint proof.Checkpoint
	note       []byte
	text       []byte
}

// prove writes the proof of an entry, with its leaf alone if it is not the entry as it was recorded.
func (p *prover) prove(e ledger.Entry) error {
	raw, err := e.Encode()
	if err != nil {
		return stream.Unavailable(err)
	}
	index := int64(e.Position - 1) //nolint:gosec // a position
	one, err := proof.Prove(raw, index, p.checkpoint.Size, p.tree, p.note)
	if err != nil {
		return stream.Unavailable(err)
	}
	if one.Check(p.checkpoint) != nil {
		if err := one.Withhold(p.tree); err != nil {
			return stream.Unavailable(err)
		}
	}
	p.text = one.Append(p.text[:0])
	_, err = p.w.Write(p.text)
	return err
}
