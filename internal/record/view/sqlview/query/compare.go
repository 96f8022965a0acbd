package query

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// each calls a function with the values of each row of a query, and with the names of its columns.
func each(ctx context.Context, db Querier, query string, args []any, do func(names []string, values []any)) (err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		do(names, values)
	}
	return nil
}

// digest adds the rows of a query to a hash: of each value its type, its length and its bytes. It reads them from the driver: a table may have millions of rows, and database/sql
// takes as long for each value as the driver.
func digest(ctx context.Context, db driver.QueryerContext, query string, h hash.Hash) (err error) {
	rows, err := db.QueryContext(ctx, query, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	var row cells
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			h.Write(row)
			return nil
		case err != nil:
			return err
		}
		for _, v := range values {
			if err := row.add(v); err != nil {
				return err
			}
		}
		if len(row) >= cellsSize {
			h.Write(row)
			row = row[:0]
		}
	}
}

// cells are values that a hash does not have yet.
type cells []byte

const cellsSize = 16 << 10 // after which they go into the hash

// add adds a value.
func (c *cells) add(value driver.Value) error {
	switch v := value.(type) {
	case nil:
		*c = append(*c, '0')
	case int64:
		*c = binary.LittleEndian.AppendUint64(append(*c, 'i'), uint64(v)) //nolint:gosec // all bits count
	case float64:
		*c = binary.LittleEndian.AppendUint64(append(*c, 'f'), math.Float64bits(v))
	case []byte:
		*c = append(binary.AppendUvarint(append(*c, 'b'), uint64(len(v))), v...)
	case string:
		*c = append(binary.AppendUvarint(append(*c, 't'), uint64(len(v))), v...)
	default:
		return fmt.Errorf("a value of type %T in a table of the views", value)
	}
	return nil
}

// Row is a row of a table.
type Row struct {
	table  string
	names  []string
	values []any
}

// In reports whether the table of the same name in a database has the row.
func (r *Row) In(ctx context.Context, db Querier) (bool, error) {
	var where []string
	var values []any
	for i, name := range r.names {
		if b, ok := r.values[i].([]byte); ok && len(b) == 0 { // as a parameter it is NULL
			where = append(where, name+" = x''")
			continue
		}
		where, values = append(where, name+" IS ?"), append(values, r.values[i])
	}
	n := 0
	query := "SELECT count(*) FROM " + r.table + " WHERE " + strings.Join(where, " AND ") //nolint:gosec // names of its own
	err := db.QueryRowContext(ctx, query, values...).Scan(&n)
	return n > 0, err
}

// Querier reads a database.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Rows returns up to limit rows of a table after a key, in the order of the key's columns, such as "ws, id"; a key without values is before all. A negative
// limit is none.
func Rows(ctx context.Context, db Querier, table, order string, after []any, limit int) (list []Row, err error) {
	where := ""
	if len(after) > 0 {
		where = " WHERE (" + order + ") > (?" + strings.Repeat(", ?", len(after)-1) + ")"
	}
	query := "SELECT * FROM " + table + where + " ORDER BY " + order + " LIMIT ?" //nolint:gosec // names of its own
	err = each(ctx, db, query, append(slices.Clone(after), limit), func(names []string, values []any) {
		list = append(list, Row{table, names, values})
	})
	return list, err
}

// Value is what the row has in a column; nil if it has no such column.
func (r *Row) Value(name string) any {
	if i := slices.Index(r.names, name); i >= 0 {
		return r.values[i]
	}
	return nil
}

// Part is rows that are compared: those of a table, or of another source, in an order.
type Part struct{ Name, From string }

// Snapshot is one state of the views in a database.
type Snapshot struct {
	At   ledger.Position // up to which they are
	conn *sql.Conn
	tx   *sql.Tx
}

// OpenSnapshot begins to read. Close it.
func OpenSnapshot(ctx context.Context, db *sql.DB) (_ *Snapshot, err error) {
	s := &Snapshot{}
	if s.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if s.tx, err = s.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err == nil {
		if err = s.tx.QueryRowContext(ctx, "SELECT position FROM view_meta").Scan(&s.At); err != nil {
			_ = s.tx.Rollback() // nothing to lose
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.conn.Close())
	}
	return s, nil
}

// Close ends the reading.
func (s *Snapshot) Close() error {
	_ = s.tx.Rollback() // nothing to lose
	return s.conn.Close()
}

// Digests returns one digest of each part.
func (s *Snapshot) Digests(ctx context.Context, list []Part) (parts [][]byte, err error) {
	err = s.conn.Raw(func(of any) error {
		db, ok := of.(driver.QueryerContext)
		if !ok {
			return errors.New("the SQLite driver does not implement the expected interface")
		}
		for _, p := range list {
			h := sha256.New()
			if err := digest(ctx, db, "SELECT * FROM "+p.From, h); err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			parts = append(parts, h.Sum(nil))
		}
		return nil
	})
	return parts, err
}

// Start begins to make the digests, and closes the snapshot afterwards. The function that it returns waits for them: call it.
func (s *Snapshot) Start(ctx context.Context, list []Part) func() ([][]byte, error) {
	var parts [][]byte
	read := make(chan error, 1)
	go func() {
		var err error
		parts, err = s.Digests(ctx, list)
		read <- errors.Join(err, s.Close())
	}()
	return func() ([][]byte, error) { err := <-read; return parts, err }
}

// Differing returns the names of the parts whose digests differ.
func Differing(list []Part, a, b [][]byte) (names []string) {
	for i, p := range list {
		if !bytes.Equal(a[i], b[i]) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Digest returns the SHA-256, in hex, of the digests of all parts, and the position of the views.
func Digest(ctx context.Context, db *sql.DB, list []Part) (string, ledger.Position, error) {
	parts, at, err := Digests(ctx, db, list)
	if err != nil {
		return "", 0, err
	}
	h := sha256.Sum256(bytes.Join(parts, nil))
	return hex.EncodeToString(h[:]), at, nil
}

// Digests returns one digest of each part, all of one state, and the position of the views.
func Digests(ctx context.Context, db *sql.DB, list []Part) (parts [][]byte, at ledger.Position, err error) {
	s, err := OpenSnapshot(ctx, db)
	if err != nil {
		return nil, 0, err
	}
	parts, err = s.Digests(ctx, list)
	return parts, s.At, errors.Join(err, s.Close())
}

// Reference is an artifact of a workspace to which an envelope refers.
type Reference struct{ Workspace, Digest string }

// References returns the artifacts to which envelopes refer, by the views in a database. Errors: those of [CheckSchema] and of the database.
func References(ctx context.Context, have *sql.DB, schema int) (list []Reference, err error) {
	if err := CheckSchema(ctx, have, schema); err != nil {
		return nil, err
	}
	err = each(ctx, have, "SELECT DISTINCT ws, digest FROM view_artifact ORDER BY ws, digest", nil, func(_ []string, values []any) {
		workspace, _ := values[0].(string)
		digest, _ := values[1].(string)
		list = append(list, Reference{workspace, digest})
	})
	return list, err
}

// CheckSchema returns a *[ledger.NotCompared] if a database has no views, or those of an earlier version of the program than that of a schema, which the next start builds again. Error: for a
// version that no program up to this one has.
func CheckSchema(ctx context.Context, have *sql.DB, current int) error {
	version := 0
	if err := have.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'view_meta'").Scan(&version); err != nil {
		return err
	}
	if version == 0 {
		return &ledger.NotCompared{Why: "the views, since there are none: a server builds them when it starts"}
	}
	if err := have.QueryRowContext(ctx, "SELECT schema FROM view_meta").Scan(&version); err != nil {
		return err
	}
	switch {
	case version == current:
		return nil
	case version > 0 && version < current:
		return &ledger.NotCompared{Why: fmt.Sprintf("the views, since an earlier version of Trapeze made them (schema %d, and this one has %d): a server builds them again when it starts", version, current)}
	}
	return fmt.Errorf("sqlview: the schema of the views is %d, by view_meta, and versions of Trapeze up to this one have 1 to %d: it was changed, or a newer version made them, which can verify them", version, current)
}
