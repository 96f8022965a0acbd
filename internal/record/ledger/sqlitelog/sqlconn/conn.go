package sqlconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Conn is one connection with its prepared statements, used by one goroutine at a time. It calls the driver directly: the
// pool of database/sql would take a third of the time of a small statement.
type Conn struct {
	raw   rawConn
	stmts []*Stmt
}

type rawConn interface {
	driver.Conn
	driver.ConnPrepareContext
	sqlite.DBStatus
}

// DSN names the database for the driver. Pragmas are run in order on every new connection.
func DSN(path, mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_pragma": pragmas}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String()
}

// Open opens a connection by a name that [DSN] has made.
func Open(name string) (*Conn, error) {
	raw, err := new(sqlite.Driver).Open(name)
	if err != nil {
		return nil, err
	}
	c := &Conn{}
	var ok bool
	if c.raw, ok = raw.(rawConn); !ok {
		return nil, errors.Join(errors.New("the SQLite driver does not implement the expected interface"), raw.Close())
	}
	return c, nil
}

// Close closes the statements and the connection.
func (c *Conn) Close() error {
	errs := make([]error, 0, 1)
	for _, s := range c.stmts {
		errs = append(errs, s.raw.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// Prepare compiles a statement, which lives as long as the connection.
func (c *Conn) Prepare(query string) (*Stmt, error) {
	raw, err := c.raw.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("%w in %.200q", err, query)
	}
	s := &Stmt{}
	var ok bool
	if s.raw, ok = raw.(rawStmt); !ok {
		return nil, errors.Join(errors.New("the SQLite driver does not implement the expected interface"), raw.Close())
	}
	c.stmts = append(c.stmts, s)
	return s, nil
}

// Exec runs a statement or a script once.
func (c *Conn) Exec(query string, args ...any) error {
	s, err := c.Prepare(query)
	if err != nil {
		return err
	}
	_, err = s.Exec(args...)
	return errors.Join(err, c.discard(s))
}

// Query runs a statement once and calls each for every row.
func (c *Conn) Query(each func(Row) error, query string, args ...any) error {
	s, err := c.Prepare(query)
	if err != nil {
		return err
	}
	err = s.Query(each, args...)
	return errors.Join(err, c.discard(s))
}

// discard closes the statement that was prepared last.
func (c *Conn) discard(s *Stmt) error {
	c.stmts = c.stmts[:len(c.stmts)-1]
	return s.raw.Close()
}

// Number runs a query for a single integer; NULL and no row are 0.
func (c *Conn) Number(query string, args ...any) (n int64, err error) {
	err = c.Query(func(row Row) error { n = row.Int64(0); return nil }, query, args...)
	return n, err
}

// Tx returns the transaction that the connection is in.
func (c *Conn) Tx() *Tx { return &Tx{c} }

// PagesWritten returns how many pages of the database were written since the last call.
func (c *Conn) PagesWritten() (int, error) {
	n, _, err := c.raw.Status(sqlite.DBStatusCacheWrite, true)
	return n, err
}

// Tx is a transaction on the connection of the writer. It is valid until the function that received it returns; the
// statements prepared from it live as long as the log.
type Tx struct{ c *Conn }

// Prepare compiles a statement for use in this and later transactions.
func (tx *Tx) Prepare(query string) (*Stmt, error) { return tx.c.Prepare(query) }

// PrepareAll compiles statements as [Tx.Prepare] does, and stores each in its variable.
func (tx *Tx) PrepareAll(all map[**Stmt]string) (err error) {
	for into, query := range all {
		if *into, err = tx.Prepare(query); err != nil {
			return err
		}
	}
	return nil
}

// Exec runs a statement, or a script of several without arguments, once.
func (tx *Tx) Exec(query string, args ...any) error { return tx.c.Exec(query, args...) }

// Query runs a statement once and calls each for every row.
func (tx *Tx) Query(each func(Row) error, query string, args ...any) error {
	return tx.c.Query(each, query, args...)
}

type rawStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// Stmt is a prepared statement on one connection, for one goroutine and one use at a time.
type Stmt struct {
	raw  rawStmt
	args []driver.NamedValue
	row  []driver.Value
}

// Exec runs the statement and returns the number of rows changed. Arguments may be nil, integers, floats, bools,
// strings, []byte and positions.
func (s *Stmt) Exec(args ...any) (int64, error) {
	if err := s.bind(args); err != nil {
		return 0, err
	}
	res, err := s.raw.ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Query runs the statement and calls each for every row, until it returns an error, which Query returns.
func (s *Stmt) Query(each func(Row) error, args ...any) error {
	if err := s.bind(args); err != nil {
		return err
	}
	rows, err := s.raw.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	if n := len(rows.Columns()); cap(s.row) < n {
		s.row = make([]driver.Value, n)
	}
	s.row = s.row[:len(rows.Columns())]
	for {
		if err = rows.Next(s.row); err != nil {
			break
		}
		if err = each(Row{s.row}); err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

func (s *Stmt) bind(args []any) error {
	s.args = s.args[:0]
	for i, arg := range args {
		v := driver.NamedValue{Ordinal: i + 1}
		switch x := arg.(type) {
		case nil, int64, float64, bool, string, []byte:
			v.Value = x
		case int:
			v.Value = int64(x)
		case uint64:
			v.Value = int64(min(x, math.MaxInt64)) //nolint:gosec // it fits
		case ledger.Position:
			v.Value = int64(min(x, math.MaxInt64)) //nolint:gosec // it fits
		default:
			return fmt.Errorf("sqlconn: argument %d has type %T", i+1, arg)
		}
		s.args = append(s.args, v)
	}
	return nil
}

// Row is one row of a result, valid until the function that received it returns; its blobs and strings stay valid. A value
// of another type than the method's, NULL included, reads as zero.
type Row struct{ values []driver.Value }

// Int64 returns the integer in column i, from 0.
func (r Row) Int64(i int) int64 { v, _ := r.values[i].(int64); return v }

// Float64 returns the real number in column i, from 0.
func (r Row) Float64(i int) float64 { v, _ := r.values[i].(float64); return v }

// Text returns the string in column i, from 0.
func (r Row) Text(i int) string { v, _ := r.values[i].(string); return v }

// Blob returns the bytes in column i, from 0.
func (r Row) Blob(i int) []byte { v, _ := r.values[i].([]byte); return v }

// Null reports whether column i, from 0, is NULL.
func (r Row) Null(i int) bool { return r.values[i] == nil }
