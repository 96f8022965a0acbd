package sqlitelog

import (
	"context"
	"errors"
	"fmt"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// rebuildBatch is the number of entries that a rebuild projects in one transaction. An append waits for one batch.
const rebuildBatch = 500

// Committer is a projector that is told when its work can be read.
type Committer interface {
	// Committed runs after every commit of entries or of projections, before any append in it is answered, as the
	// other calls one at a time. at is the position up to which the views are complete, and written that up to which their tables are; they lag only while
	// [Log.Stale] is not nil.
	Committed(at, written ledger.Position)
}

func (w *writer) committed() {
	if c, ok := w.log.opts.Projector.(Committer); ok {
		c.Committed(w.projected, w.written)
	}
}

// Stale is nil while the views contain every acknowledged entry; otherwise it says why they do not. Stale views do not
// change until CatchUp or Rebuild.
func (l *Log) Stale() error {
	if p := l.stale.Load(); p != nil {
		return *p
	}
	return nil
}

func (l *Log) setStale(err error) {
	if err == nil {
		l.stale.Store(nil)
		return
	}
	l.stale.Store(&err)
}

// CatchUp projects the entries that the views lack; then they are no longer stale. Appends continue meanwhile. It returns
// the error of the projector if that fails again: then only a corrected program or Rebuild helps.
func (l *Log) CatchUp(ctx context.Context) error {
	if l.opts.Projector == nil {
		return nil
	}
	for {
		var done bool
		err := l.do(ctx, func(w *writer) (err error) {
			done, err = w.catchUp()
			return err
		})
		if err != nil || done {
			return err
		}
	}
}

// Rebuild empties the views and projects all entries again. Readers see incomplete views meanwhile.
func (l *Log) Rebuild(ctx context.Context) error {
	if l.opts.Projector == nil {
		return nil
	}
	err := l.do(ctx, func(w *writer) error {
		err := w.transact(func(tx *sqlconn.Tx) error {
			w.calls = true // it forgets what it has in memory
			return l.opts.Projector.Reset(tx)
		})
		if err != nil {
			return err
		}
		w.projected, w.written = 0, 0
		l.setStale(errors.New("views are being rebuilt"))
		w.committed()
		return nil
	})
	if err != nil {
		return err
	}
	return l.CatchUp(ctx)
}

// setupViews runs Setup of the projector and compares its position with that of the ledger.
func (w *writer) setupViews() error {
	p := w.log.opts.Projector
	if p == nil {
		return nil
	}
	if err := w.attempt(func(tx *sqlconn.Tx) (err error) { w.written, err = p.Setup(tx); return err }); err != nil {
		return err
	}
	w.projected = w.written
	switch {
	case w.projected < w.last:
		w.log.setStale(fmt.Errorf("views end at %d, the ledger at %d: catch up", w.projected, w.last))
	case w.projected > w.last:
		w.log.setStale(fmt.Errorf("views end at %d, beyond the ledger at %d: rebuild", w.projected, w.last))
	}
	return nil
}

// project runs the projector on the entries of the current transaction, unless the views are stale. An error of the projector is viewErr:
// then the transaction is to be made again without the views. A savepoint in its stead would have SQLite copy each page that the
// views change. err means that nothing can be written.
func (w *writer) project(entries []ledger.Entry) (viewErr, err error) {
	if w.log.opts.Projector == nil || w.log.stale.Load() != nil {
		return nil, nil
	}
	if viewErr = w.projectMissed(entries[0].Position - 1); viewErr == nil {
		viewErr = w.callProjector(entries)
	}
	if isFault(viewErr) {
		return nil, viewErr // a full disk, for example, is no fault of the projector
	}
	return viewErr, nil
}

// projectMissed projects the entries up to a position that the views lack since a transaction was undone.
func (w *writer) projectMissed(to ledger.Position) error {
	for w.projected < to {
		entries, err := w.log.readAfter(w.readAfter, w.projected, min(rebuildBatch, int(to-w.projected))) //nolint:gosec // at most rebuildBatch
		if err != nil {
			return err
		}
		if err := w.callProjector(entries); err != nil {
			return err
		}
	}
	return nil
}

// callProjector has entries projected or, if there are none, written what the tables lack.
func (w *writer) callProjector(entries []ledger.Entry) (err error) {
	defer func() { // a bug in a view must not stop the ledger
		if r := recover(); r != nil {
			err = fmt.Errorf("projector panicked: %v", r)
		}
	}()
	w.calls = true
	written, p, tx := true, w.log.opts.Projector, w.conn.Tx()
	if len(entries) == 0 {
		err = p.Flush(tx)
	} else if written, err = p.Project(tx, entries); err == nil {
		w.projected = entries[len(entries)-1].Position
	}
	if err == nil && written {
		w.written = w.projected
	}
	return err
}

// Flush has the tables of the views have every entry that was appended before. A fault of the projector makes the views stale, as at an append, and is no error
// of Flush. While they are, its error is that of [Log.Stale] if the tables lack something.
func (l *Log) Flush(ctx context.Context) error {
	var err error
	if !l.inPlace(func(w *writer) { err = w.flush() }) {
		err = l.do(ctx, (*writer).flush)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (w *writer) flush() error {
	if w.log.opts.Projector == nil || w.written == w.last {
		return nil
	}
	if err := w.log.Stale(); err != nil {
		return err
	}
	var own error
	err := w.transactViews(func(*sqlconn.Tx) error {
		if own = w.projectMissed(w.last); own == nil && w.written < w.last {
			own = w.callProjector(nil)
		}
		return own
	})
	if own != nil && !isFault(own) {
		w.log.setStale(fmt.Errorf("views end at %d: %w", w.projected, own))
	} else if err != nil {
		return err // the tables still lack it
	}
	w.committed()
	return nil
}

// catchUp projects the next entries that the views lack. It runs on the goroutine of the writer, so that no entry can be
// appended between the last batch and the end of the staleness.
func (w *writer) catchUp() (done bool, err error) {
	if w.projected > w.last {
		return false, fmt.Errorf("views end at %d, beyond the ledger at %d: rebuild", w.projected, w.last)
	}
	if w.projected == w.last {
		w.log.setStale(nil)
		w.committed()
		return true, nil
	}
	entries, err := w.log.readAfter(w.readAfter, w.projected, rebuildBatch)
	if err != nil {
		return false, err
	}
	err = w.transactViews(func(*sqlconn.Tx) error {
		if err := w.callProjector(entries); err != nil || w.written == w.projected {
			return err
		}
		return w.callProjector(nil)
	})
	if err != nil {
		err = fmt.Errorf("views end at %d: %w", w.projected, err)
		w.log.setStale(err)
		return false, err
	}
	w.committed()
	return false, nil
}
