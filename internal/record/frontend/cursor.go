package frontend

import (
	"context"
	"errors"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Cursors returns the positions of followers that do the same at each front end, or that run at one after the other: a front end goes on where any of
// them has come to. own are those of its views. What is saved is shared within a second.
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
	var shared int64
	err = c.f.pool.QueryRow(ctx, c.f.in("SELECT position FROM S.cursor WHERE name = $1"), name).Scan(&shared)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, wrap(err)
	}
	return max(at, ledger.Position(shared)), nil //nolint:gosec // never negative
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
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for name, at := range saved {
		_, err := f.pool.Exec(ctx, f.in(`INSERT INTO S.cursor AS c VALUES($1, $2) ON CONFLICT (name) DO UPDATE SET position = excluded.position
			WHERE c.position < excluded.position`), name, int64(at)) //nolint:gosec // positions are less
		if err != nil {
			return wrap(err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.saved, func(name string, at ledger.Position) bool { return saved[name] == at })
	return nil
}
