package cursor

import (
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"
)

// Schema is the table of cursors, which a rebuild of the views keeps.
const Schema = `CREATE TABLE IF NOT EXISTS view_cursor(name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT`

// Cursors are the saved positions of followers. They are written with the next entries. They are safe for concurrent use.
type Cursors struct {
	mu             sync.Mutex
	saved, written map[string]ledger.Position
	changed        bool
}

// New returns cursors of no follower.
func New() *Cursors {
	return &Cursors{saved: map[string]ledger.Position{}, written: map[string]ledger.Position{}}
}

// Read reads what was saved. If that was changed by others, the followers begin again.
func (c *Cursors) Read(tx *sqlitelog.Tx) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if whole, err := kept.Cursors.IsWhole(tx); err != nil || !whole {
		return err
	}
	return tx.Query(func(row sqlitelog.Row) error {
		at := ledger.Position(row.Int64(1)) //nolint:gosec // never negative
		c.saved[row.Text(0)], c.written[row.Text(0)] = at, at
		return nil
	}, "SELECT name, position FROM view_cursor")
}

// Get returns the position of a follower; 0 if it has none.
func (c *Cursors) Get(name string) ledger.Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.saved[name]
}

// Save saves the position of a follower.
func (c *Cursors) Save(name string, at ledger.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saved[name], c.changed = at, true
}

// Forget makes the next write complete.
func (c *Cursors) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.written)
	c.changed = len(c.saved) > 0
}

// Write writes what has changed, by a statement that takes a name and a position.
func (c *Cursors) Write(tx *sqlitelog.Tx, put *sqlitelog.Stmt) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed {
		return nil
	}
	for name, at := range c.saved {
		if written, ok := c.written[name]; ok && written == at {
			continue
		}
		if err := kept.Cursors.Change(tx, name, func() error { _, err := put.Exec(name, at); return err }); err != nil {
			return err
		}
		c.written[name] = at
	}
	c.changed = false
	return nil
}
