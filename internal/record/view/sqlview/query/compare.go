package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash"
	"strings"
)

// Digest adds the rows of a query to a hash.
func Digest(ctx context.Context, tx *sql.Tx, query string, h hash.Hash) (err error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for _, value := range values {
			if b, ok := value.([]byte); ok {
				value = string(b)
			}
			_, _ = fmt.Fprintf(h, "%T %q\n", value, fmt.Sprint(value)) // a hash never fails
		}
	}
	return nil
}

// Contains reports whether a table has all rows of the one of the same name in another database.
func Contains(ctx context.Context, have *sql.Tx, want *sql.DB, table string) (all bool, err error) {
	rows, err := want.QueryContext(ctx, "SELECT * FROM "+table)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return false, err
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return false, err
		}
		n := 0
		query := "SELECT count(*) FROM " + table + " WHERE " + strings.Join(names, " IS ? AND ") + " IS ?" //nolint:gosec // names of its own
		if err := have.QueryRowContext(ctx, query, values...).Scan(&n); err != nil || n == 0 {
			return false, err
		}
	}
	return true, nil
}
