package cursor

import (
	"context"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"
)

// Schema is the table of cursors, which a rebuild of the views keeps.
const Schema = `CREATE TABLE IF NOT EXISTS view_cursor(name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT`

// Delay is the time after which a saved position is written, if no entries are written before.
const Delay = time.Second

// Transact runs a function in a transaction of its own.
type Transact func(ctx context.Context, fn func(*sqlconn.Tx) error) error

// Cursors are the saved positions of followers. They are written with the next entries, or by what [Cursors.Keep] was given. They are safe for
// concurrent use.
type Cursors struct {
	mu             sync.Mutex
	saved, written map[string]ledger.Position
	changed        bool        // something saved is not written
	late           *time.Timer // runs while changed; nil: nothing else writes

	put     *sqlconn.Stmt
	writing sync.Mutex // held while write runs, and while closed changes
	write   Transact
	closed  bool
}

// New returns cursors of no follower.
func New() *Cursors {
	return &Cursors{saved: map[string]ledger.Position{}, written: map[string]ledger.Position{}}
}

// Keep has [Cursors.Write] called by write [Delay] after positions were saved that nothing else has written, and by [Cursors.Close].
func (c *Cursors) Keep(write Transact) {
	c.writing.Lock()
	c.write = write
	c.writing.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = time.AfterFunc(Delay, func() { c.flush(false) })
	if !c.changed {
		c.late.Stop()
	}
}

// Close writes what is not written yet, if that is possible: otherwise followers begin a little earlier. What is saved later is not written.
func (c *Cursors) Close() { c.flush(true) }

// flush writes what is not written yet. Unless it is the last time, it is tried again later if that fails.
func (c *Cursors) flush(last bool) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.write == nil || c.closed {
		return
	}
	c.closed = last
	c.mu.Lock()
	changed := c.changed
	if last {
		c.late.Stop()
		c.late = nil
	}
	c.mu.Unlock()
	if changed && c.write(context.Background(), c.Write) != nil {
		c.Forget()
	}
}

// change notes that something is to be written.
func (c *Cursors) change() {
	c.changed = true
	if c.late != nil {
		c.late.Reset(Delay)
	}
}

// Read reads what was saved. If that was changed by others, the followers begin again.
func (c *Cursors) Read(tx *sqlconn.Tx) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.put, err = tx.Prepare("INSERT OR REPLACE INTO view_cursor(name, position) VALUES(?, ?)"); err != nil {
		return err
	}
	if whole, err := kept.Cursors.IsWhole(tx); err != nil || !whole {
		return err
	}
	return tx.Query(func(row sqlconn.Row) error {
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
	c.saved[name] = at
	if !c.changed {
		c.change()
	}
}

// Forget makes the next write complete.
func (c *Cursors) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.written)
	if len(c.saved) > 0 {
		c.change()
	}
}

// Write writes what has changed.
func (c *Cursors) Write(tx *sqlconn.Tx) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed {
		return nil
	}
	for name, at := range c.saved {
		if written, ok := c.written[name]; ok && written == at {
			continue
		}
		if err := kept.Cursors.Change(tx, name, func() error { _, err := c.put.Exec(name, at); return err }); err != nil {
			return err
		}
		c.written[name] = at
	}
	c.changed = false
	if c.late != nil {
		c.late.Stop()
	}
	return nil
}
