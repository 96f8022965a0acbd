package frontend

import (
	"context"
	"maps"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Cursors returns the positions of followers that do the same at each front end, or that run at one after the other: a front end goes on where any of
// them has come to. own are those of its views. What is saved is shared within a second, and before another has the turn.
func (f *FrontEnd) Cursors(own view.Cursors) view.Cursors { return cursors{own, f} }

type cursors struct {
	own view.Cursors
	f   *FrontEnd
}

// Cursor implements [view.Cursors].
func (c cursors) Cursor(ctx context.Context, name string) (ledger.Position, error) {
	at, err := c.own.Cursor(ctx, name)
	if err != nil {
		return 0, err
	}
	shared, err := c.f.Cursor(ctx, name)
	return max(at, shared), err
}

// SaveCursor implements [view.Cursors].
func (c cursors) SaveCursor(ctx context.Context, name string, at ledger.Position) error {
	c.f.mu.Lock()
	c.f.saved[name] = max(c.f.saved[name], at)
	c.f.mu.Unlock()
	return c.own.SaveCursor(ctx, name, at)
}

// flush shares the positions that were saved.
func (f *FrontEnd) flush(ctx context.Context) error {
	f.mu.Lock()
	saved := maps.Clone(f.saved)
	f.mu.Unlock()
	for name, at := range saved {
		if err := f.RaiseCursor(ctx, name, at); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.saved, func(name string, at ledger.Position) bool { return saved[name] == at })
	return nil
}

// flushLast shares the positions that were saved, if that is possible, although ctx may have ended.
func (f *FrontEnd) flushLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
	defer cancel()
	_ = f.flush(ctx) // otherwise followers begin a little earlier
}

// Close shares the positions that were saved, and closes the store.
func (f *FrontEnd) Close() {
	f.flushLast(context.Background())
	f.Store.Close()
}
