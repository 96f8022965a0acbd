package sqlitelog

import (
	"errors"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// counter is a small projector: one row per stream with its number of entries, and a cursor.
type counter struct {
	late        bool  // Project writes nothing
	fail        error // returned by Flush after it has written
	panics      bool
	heard       []string // streams of entries that the tables lack
	at          ledger.Position
	upsert, set *sqlconn.Stmt
}

func (c *counter) Setup(tx *sqlconn.Tx) (p ledger.Position, err error) {
	err = tx.Exec(`CREATE TABLE IF NOT EXISTS counts(stream TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
		CREATE TABLE IF NOT EXISTS cursor(one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL) STRICT;
		INSERT INTO cursor VALUES(1, 0) ON CONFLICT DO NOTHING`)
	if err != nil {
		return 0, err
	}
	c.upsert, err = tx.Prepare("INSERT INTO counts VALUES(?, 1) ON CONFLICT DO UPDATE SET n = n + 1")
	if err != nil {
		return 0, err
	}
	if c.set, err = tx.Prepare("UPDATE cursor SET position = ?"); err != nil {
		return 0, err
	}
	err = tx.Query(func(row sqlconn.Row) error { p = ledger.Position(row.Int64(0)); return nil }, "SELECT position FROM cursor") //nolint:gosec // positive
	return p, err
}

func (c *counter) Reset(tx *sqlconn.Tx) error {
	return errors.Join(tx.Exec("DELETE FROM counts"), tx.Exec("UPDATE cursor SET position = 0"))
}

func (c *counter) Project(_ *sqlconn.Tx, entries []ledger.Entry) (written bool, err error) {
	for _, e := range entries {
		c.heard = append(c.heard, string(e.Stream))
	}
	c.at = entries[len(entries)-1].Position
	if c.late {
		return false, nil
	}
	return true, c.Flush(nil)
}

func (c *counter) Flush(*sqlconn.Tx) error {
	for _, stream := range c.heard {
		if _, err := c.upsert.Exec(stream); err != nil {
			return err
		}
	}
	c.heard = nil
	if _, err := c.set.Exec(c.at); err != nil {
		return err
	}
	if c.panics {
		panic("bug in a view")
	}
	return c.fail
}

func (c *counter) Forget() { c.heard = nil }
