package history

import (
	"context"
	"io"

	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// exportProofs writes the proofs that entries are in the tree of one checkpoint. Entries of which a part is withheld from the caller are left out, as are those
// that are damaged, if the caller goes on after them: the versions of their streams show that they are missing.
func (h *History) exportProofs(ctx context.Context, c caller.Caller, t task.Task, in ExportInput, w io.Writer) error {
	if err := h.hasTree(); err != nil {
		return err
	}
	last, err := h.ledger.Last(ctx)
	if err != nil {
		return stream.Unavailable(err)
	}
	signing, cancel := context.WithTimeout(ctx, signsWithin)
	checkpoint, note, err := h.tree.Await(signing, last)
	cancel()
	if err != nil {
		return stream.Unavailable(err)
	}
	var text []byte
	return h.eachEntry(ctx, c, t, in, func(e ledger.Entry) error {
		if int64(e.Position) > checkpoint.Size { //nolint:gosec // a position
			return nil
		}
		raw, err := e.Encode()
		if err != nil {
			return stream.Unavailable(err)
		}
		p, err := proof.Prove(raw, int64(e.Position-1), checkpoint.Size, h.tree, note) //nolint:gosec // a position
		if err != nil {
			return stream.Unavailable(err)
		}
		if whole := p.Check(checkpoint) == nil; !whole { // it is not the entry as it was recorded
			return nil
		}
		text = p.Append(text[:0])
		_, err = w.Write(text)
		return err
	}, func(view.Row) error { return nil })
}
