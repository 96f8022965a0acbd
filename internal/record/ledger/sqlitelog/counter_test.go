package sqlitelog

import (
	"errors"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// counter is a small projector: one row per stream with its number of entries, and a cursor.
type counter struct {
	fail        error // returned by Project after it has written
	panics      bool
	upsert, set *Stmt
}

func (c *counter) Setup(tx *Tx) (p ledger.Position, err error) {
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
	err = tx.Query(func(row Row) error { p = ledger.Position(row.Int64(0)); return nil }, "SELECT position FROM cursor") //nolint:gosec // positive
	return p, err
}

func (c *counter) Reset(tx *Tx) error {
	return errors.Join(tx.Exec("DELETE FROM counts"), tx.Exec("UPDATE cursor SET position = 0"))
}

func (c *counter) Project(_ *Tx, entries []ledger.Entry) error {
	for _, e := range entries {
		if _, err := c.upsert.Exec(string(e.Stream)); err != nil {
			return err
		}
	}
	if _, err := c.set.Exec(entries[len(entries)-1].Position); err != nil {
		return err
	}
	if c.panics {
		panic("bug in a view")
	}
	return c.fail
}
