package sqlitelog

import (
	"context"
	"errors"
	"fmt"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// rebuildBatch is the number of entries that a rebuild projects in one transaction. An append waits for one batch.
const rebuildBatch = 500

// Committer is a projector that is told when its work can be read.
type Committer interface {
	// Committed runs after every commit of entries or of projections, before any append in it is answered, on the
	// goroutine of the other calls. at is the position up to which the views are complete; they lag only while [Log.Stale]
	// is not nil.
	Committed(at ledger.Position)
}

func (w *writer) committed() {
	if c, ok := w.log.opts.Projector.(Committer); ok {
		c.Committed(w.projected)
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
		if err := w.transact(l.opts.Projector.Reset); err != nil {
			return err
		}
		w.projected = 0
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
	if err := w.attempt(func(tx *Tx) (err error) { w.projected, err = p.Setup(tx); return err }); err != nil {
		return err
	}
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
	if viewErr = w.callProjector(entries); isFault(viewErr) {
		return nil, viewErr // a full disk, for example, is no fault of the projector
	}
	return viewErr, nil
}

// callProjector turns a panic into an error: a bug in a view must not stop the ledger.
func (w *writer) callProjector(entries []ledger.Entry) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("projector panicked: %v", r)
		}
	}()
	return w.log.opts.Projector.Project(&Tx{w.conn}, entries)
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
	if err := w.transact(func(*Tx) error { return w.callProjector(entries) }); err != nil {
		err = fmt.Errorf("views end at %d: %w", w.projected, err)
		w.log.setStale(err)
		return false, err
	}
	w.projected = entries[len(entries)-1].Position
	w.committed()
	return false, nil
}
