package query

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// maxStatements bounds the prepared statements: searches have very many shapes. Queries beyond are prepared for each call.
const maxStatements = 256

// DB runs prepared queries on a pool of connections. It is safe for concurrent use.
type DB struct {
	// Before is called before each query, which it fails with an error; nil: nothing is.
	Before func(context.Context) error

	pool *sql.DB

	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

// New returns a DB on a pool, which remains the caller's to close, after the DB.
func New(pool *sql.DB) *DB { return &DB{pool: pool, stmts: map[string]*sql.Stmt{}} }

// Close closes the prepared statements.
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	errs := make([]error, 0, len(d.stmts))
	for _, s := range d.stmts {
		errs = append(errs, s.Close())
	}
	clear(d.stmts)
	return errors.Join(errs...)
}

// ErrEnough is returned by a function that [DB.Each] calls, for the last row that is read.
var ErrEnough = errors.New("query: no more rows are needed")

// Each runs a query and calls each for every row, until it returns an error. It returns that error, unless it is [ErrEnough].
func (d *DB) Each(ctx context.Context, each func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := d.query(ctx, query, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	for err == nil && rows.Next() {
		err = each(rows)
	}
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

func (d *DB) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	if d.Before != nil {
		if err := d.Before(ctx); err != nil {
			return nil, err
		}
	}
	s, err := d.prepared(ctx, query) //nolint:sqlclosecheck // kept until Close
	if err != nil {
		return nil, err
	}
	if s == nil {
		return d.pool.QueryContext(ctx, query, args...)
	}
	return s.QueryContext(ctx, args...)
}

// prepared returns the prepared statement of a query, or nil if there are too many. None is closed before Close, since others may
// be about to use it.
func (d *DB) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	d.mu.RLock()
	s, full := d.stmts[query], len(d.stmts) >= maxStatements
	d.mu.RUnlock()
	if s != nil || full {
		return s, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.stmts[query]; s != nil || len(d.stmts) >= maxStatements {
		return s, nil
	}
	s, err := d.pool.PrepareContext(ctx, query) //nolint:sqlclosecheck // kept until Close
	if err != nil {
		return nil, fmt.Errorf("sqlview: %w", err)
	}
	d.stmts[query] = s
	return s, nil
}

// JSON returns the rows of a query whose only column is JSON.
func JSON[T any](ctx context.Context, d *DB, query string, args ...any) ([]T, error) {
	list := []T{}
	err := d.Each(ctx, func(rows *sql.Rows) error {
		var b sql.RawBytes
		if err := rows.Scan(&b); err != nil {
			return err
		}
		var v T
		err := json.Unmarshal(b, &v)
		list = append(list, v)
		return err
	}, query, args...)
	return list, err
}

// Texts returns the rows of a query whose only column is text.
func Texts(ctx context.Context, d *DB, query string, args ...any) ([]string, error) {
	list := []string{}
	err := d.Each(ctx, func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		list = append(list, s)
		return err
	}, query, args...)
	return list, err
}

// Int returns the integer of a query for one; 0 if there is no row.
func Int(ctx context.Context, d *DB, query string, args ...any) (n int, err error) {
	err = d.Each(ctx, func(rows *sql.Rows) error { return rows.Scan(&n) }, query, args...)
	return n, err
}
