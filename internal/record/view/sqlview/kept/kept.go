package kept

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Table is a table that survives a rebuild.
type Table struct {
	Name string
	key  string // the column by which rows are written
	row  string // an expression for all of a row
}

// The tables.
var (
	Cursors = Table{"view_cursor", "name", "name || '/' || position"}
	Vectors = Table{"view_memory_vector", "n", "n || '/' || id || '/' || written || '/' || space || '/' || hex(value)"}
	// Tables are all of them.
	Tables = []Table{Cursors, Vectors}
)

// Schema is the table of the sums.
const Schema = `CREATE TABLE IF NOT EXISTS view_kept(name TEXT PRIMARY KEY, sum INTEGER NOT NULL) STRICT, WITHOUT ROWID`

const (
	getSum = "SELECT sum FROM view_kept WHERE name = ?"
	putSum = "INSERT OR REPLACE INTO view_kept(name, sum) VALUES(?, ?)"
)

// ofRow is what a row adds to the sum of its table.
func ofRow(text string) int64 {
	h := sha256.Sum256([]byte(text))
	return int64(binary.LittleEndian.Uint64(h[:])) //nolint:gosec // all bits count
}

// Change makes a change of the rows with a key, and changes the sum.
func (t Table) Change(tx *sqlconn.Tx, key any, change func() error) error {
	before, err := t.sum(tx, " WHERE "+t.key+" = ?", key)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := t.sum(tx, " WHERE "+t.key+" = ?", key)
	if err != nil || after == before {
		return err
	}
	sum := int64(0)
	if err := tx.Query(func(row sqlconn.Row) error { sum = row.Int64(0); return nil }, getSum, t.Name); err != nil {
		return err
	}
	return tx.Exec(putSum, t.Name, sum+after-before)
}

// sum adds up rows.
func (t Table) sum(tx *sqlconn.Tx, where string, args ...any) (sum int64, err error) {
	err = tx.Query(func(row sqlconn.Row) error { sum += ofRow(row.Text(0)); return nil }, "SELECT "+t.row+" FROM "+t.Name+where, args...)
	return sum, err
}

// Begin sets the sums to those of the rows: of tables that an earlier version wrote.
func Begin(tx *sqlconn.Tx) error {
	for _, t := range Tables {
		sum, err := t.sum(tx, "")
		if err := errors.Join(err, tx.Exec(putSum, t.Name, sum)); err != nil {
			return err
		}
	}
	return nil
}

// IsWhole reports whether the rows of a table are those that were written.
func (t Table) IsWhole(tx *sqlconn.Tx) (bool, error) {
	sum, err := t.sum(tx, "")
	if err != nil {
		return false, err
	}
	whole := false
	err = tx.Query(func(row sqlconn.Row) error { whole = row.Int64(0) == sum; return nil }, getSum, t.Name)
	return whole, err
}

// Empty empties each table whose rows are not those that were written: followers begin again, and vectors are made again.
func Empty(tx *sqlconn.Tx) error {
	for _, t := range Tables {
		whole, err := t.IsWhole(tx)
		if err == nil && !whole {
			err = errors.Join(tx.Exec("DELETE FROM "+t.Name), tx.Exec(putSum, t.Name, 0))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Differ returns the names of the tables whose rows are not those that were written, and of those of which a query counts rows.
func Differ(ctx context.Context, have *sql.DB, counts map[string]string) (differ []string, err error) {
	tx, err := have.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to lose
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		bad := 0
		if err := tx.QueryRowContext(ctx, counts[name]).Scan(&bad); err != nil {
			return nil, err
		}
		if bad > 0 {
			differ = append(differ, name)
		}
	}
	list, err := changed(ctx, tx)
	return append(differ, list...), err
}

// changed returns the names of the tables whose rows are not those that were written.
func changed(ctx context.Context, tx *sql.Tx) (list []string, err error) {
	for _, t := range Tables {
		var want, sum int64
		err := tx.QueryRowContext(ctx, getSum, t.Name).Scan(&want)
		whole := err == nil
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		if sum, err = t.read(ctx, tx); err != nil {
			return nil, err
		}
		if !whole || sum != want {
			list = append(list, t.Name+", or its sum in view_kept,")
		}
	}
	return list, nil
}

// read adds up all rows.
func (t Table) read(ctx context.Context, tx *sql.Tx) (sum int64, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+t.row+" FROM "+t.Name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return 0, err
		}
		sum += ofRow(text)
	}
	return sum, nil
}

// declared are the declarations of the tables that a rebuild makes.
const declared = "(SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE tbl_name GLOB 'view_*' AND tbl_name NOT IN ('view_cursor', 'view_memory_vector')) ORDER BY name"

// Compared is what is compared with a rebuild: tables, how indexes of words are set up, and how all are declared.
func Compared(tables []struct{ Name, Order string }, settings []string) (list []query.Part) {
	for _, t := range tables {
		list = append(list, query.Part{Name: t.Name, From: t.Name + " ORDER BY " + t.Order})
	}
	for _, name := range settings {
		list = append(list, query.Part{Name: name, From: name + " ORDER BY k"})
	}
	return append(list, query.Part{Name: "view_meta (or how a table of the views is declared)", From: declared})
}
