package sqlview

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
)

// Digest returns the SHA-256, in hex, of all rows of the views, and the position of the views. Two views at the same
// position have the same digest. It reads every row.
func (v *Views) Digest(ctx context.Context) (digest string, at ledger.Position, err error) {
	parts, at, err := digests(ctx, v.readers)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)), at, nil
}

// Verify compares the views with new ones, built from the ledger in a temporary file. Its error names the tables that
// differ. Both are compared at one position: appends may continue.
func (v *Views) Verify(ctx context.Context) (err error) {
	have, at, err := digests(ctx, v.readers)
	if err != nil {
		return err
	}
	db, err := sqlitelog.OpenDatabase("", 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	p := newProjector(func(done) {})
	p.load = v.ledger.Stream
	if err := db.Write(func(tx *sqlitelog.Tx) error { _, err := p.Setup(tx); return err }); err != nil {
		return err
	}
	if err := replay(ctx, v.ledger, db, p, at); err != nil {
		return err
	}
	want, _, err := digests(ctx, db.Readers())
	if err != nil {
		return err
	}
	for i, t := range tables {
		if string(have[i]) != string(want[i]) {
			err = errors.Join(err, fmt.Errorf("sqlview: %s at %d differs from a rebuild: rebuild the views", t.Name, at))
		}
	}
	return err
}

// replay projects everything up to a position.
func replay(ctx context.Context, l ledger.Ledger, db *sqlitelog.Database, p *projector, to ledger.Position) error {
	stop := errors.New("done")
	if to == 0 {
		return nil
	}
	// Follow, because a read may lag behind.
	err := l.Follow(ctx, 0, func(entries []ledger.Entry) error {
		n := len(entries)
		for n > 0 && entries[n-1].Position > to {
			n--
		}
		if n > 0 {
			if err := db.Write(func(tx *sqlitelog.Tx) error { return p.Project(tx, entries[:n]) }); err != nil {
				return err
			}
		}
		if n < len(entries) || entries[n-1].Position >= to {
			return stop
		}
		return nil
	})
	if errors.Is(err, stop) {
		return nil
	}
	return err
}

// digests returns one digest per table, all of one state.
func digests(ctx context.Context, db *sql.DB) (parts [][]byte, at ledger.Position, err error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to lose
	var position int64
	if err := tx.QueryRowContext(ctx, "SELECT position FROM view_meta").Scan(&position); err != nil {
		return nil, 0, err
	}
	for _, t := range tables {
		h := sha256.New()
		if err := digestRows(ctx, tx, "SELECT * FROM "+t.Name+" ORDER BY "+t.Order, h); err != nil {
			return nil, 0, err
		}
		parts = append(parts, h.Sum(nil))
	}
	return parts, ledger.Position(position), nil //nolint:gosec // never negative
}

func digestRows(ctx context.Context, tx *sql.Tx, query string, h hash.Hash) (err error) {
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
