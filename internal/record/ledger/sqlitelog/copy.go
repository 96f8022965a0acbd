package sqlitelog

import (
	"context"
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Copy appends entries of another ledger as they are, in one transaction: at their positions, which must follow the last one without a gap, and
// without a compare-and-set. The views then lack them, until they are caught up. Errors: ErrInvalid, if an entry does not fit, and those of Append.
func (l *Log) Copy(ctx context.Context, entries []ledger.Entry) error {
	if len(entries) == 0 {
		return ctx.Err()
	}
	return l.do(ctx, func(w *writer) error { return w.copy(entries) })
}

func (w *writer) copy(entries []ledger.Entry) error {
	if err := w.log.health.check(); err != nil {
		return err
	}
	var own error
	size := 0
	err := w.transaction(func() (bool, error) {
		for i := range entries {
			n, err := w.copyOne(&entries[i])
			if err != nil {
				if isFault(err) {
					return false, err
				}
				own = err
				w.log.heads.Forget()
				return false, nil
			}
			size += n
		}
		return true, w.markSealed(entries)
	})
	if err != nil || own != nil {
		if err == nil {
			err = own
		}
		return err
	}
	if w.log.opts.Projector != nil {
		w.log.setStale(fmt.Errorf("views end at %d, the ledger at %d: catch up", w.projected, w.last))
	}
	w.log.tail.Add(entries, size)
	return nil
}

// copyOne inserts an entry and returns its size.
func (w *writer) copyOne(e *ledger.Entry) (int, error) {
	if e.Position != w.last+1 {
		return 0, fmt.Errorf("%w: position %d does not follow %d", ledger.ErrInvalid, e.Position, w.last)
	}
	h, err := w.head(e.Stream, ledger.Any)
	if err != nil {
		return 0, err
	}
	expect := h.Position
	if e.Version == 0 {
		expect = ledger.Any
	}
	r := newRequest()
	defer r.free()
	r.entry = *e
	if err := r.set(expect); err != nil {
		return 0, err
	}
	_, err = w.place(r, h)
	return r.size, err
}

// markSealed gives a log that gets sealed entries their format.
func (w *writer) markSealed(entries []ledger.Entry) error {
	if w.log.opts.Sealer != nil || !slices.ContainsFunc(entries, func(e ledger.Entry) bool { return e.Enc == ledger.EncSealed }) {
		return nil
	}
	return w.conn.Exec(fmt.Sprintf("PRAGMA user_version=%d", Format+sealedFormats))
}
