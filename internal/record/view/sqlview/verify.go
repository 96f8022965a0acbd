package sqlview

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
)

// Digest returns the SHA-256, in hex, of all rows of the views, and the position of the views. Two views at the same
// position have the same digest. It reads every row.
func (v *Views) Digest(ctx context.Context) (digest string, at ledger.Position, err error) {
	if err := v.catchUp(ctx); err != nil {
		return "", 0, err
	}
	return query.Digest(ctx, v.readers, compared)
}

// Verify compares the views with new ones, built from the ledger in a temporary file. Its error names the tables that
// differ. Both are compared at one position: appends may continue.
func (v *Views) Verify(ctx context.Context) error {
	differ, at, err := Compare(ctx, v.ledger, v.readers)
	for _, name := range differ {
		err = errors.Join(err, fmt.Errorf("sqlview: %s at %d differs from a rebuild: rebuild the views", name, at))
	}
	return err
}

// Record is the part of a ledger from which views are built.
type Record interface {
	Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error)
	Stream(ctx context.Context, stream ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error)
	Last(ctx context.Context) (ledger.Position, error)
}

// Reference is an artifact of a workspace to which an envelope refers.
type Reference = query.Reference

// References returns the artifacts to which envelopes refer, by the views in a database. Errors: *[ledger.NotCompared], and those of the database.
func References(ctx context.Context, have *sql.DB) ([]Reference, error) {
	return query.References(ctx, have, schemaVersion)
}

// Compare compares the views in a database with new ones, built from a record in a temporary file, and returns the names of the tables that differ, and the
// position at which they were compared. If they are those of a later position than they say, view_meta is what differs. Errors: *[ledger.NotCompared], and those of the record and the database.
func Compare(ctx context.Context, r Record, have *sql.DB) (differ []string, at ledger.Position, err error) {
	if err := query.CheckSchema(ctx, have, schemaVersion); err != nil {
		return nil, 0, err
	}
	first, err := r.Last(ctx)
	if err != nil {
		return nil, 0, err
	}
	there, err := query.OpenSnapshot(ctx, have)
	if err != nil {
		return nil, 0, err
	}
	at = there.At
	if last, err := r.Last(ctx); err != nil || last < at {
		return nil, at, errors.Join(err, there.Close(), fmt.Errorf("sqlview: the views end at position %d, by view_meta, and the record at %d", at, last))
	}
	read := there.Start(ctx, compared)
	made, err := rebuilt(ctx, r, at)
	old, unread := read()
	if err := errors.Join(unread, err); err != nil {
		return nil, at, err
	}
	if differ = query.Differing(compared, old, made); len(differ) == 0 || at >= first {
		return differ, at, nil
	}
	if made, err = rebuilt(ctx, r, first); err == nil && len(query.Differing(compared, old, made)) == 0 {
		differ = []string{"view_meta"}
	}
	return differ, at, err
}

// rebuilt builds views from a record up to a position, and returns their digests.
func rebuilt(ctx context.Context, r Record, at ledger.Position) (digests [][]byte, err error) {
	db, p, err := openTemporary(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := replay(ctx, r, db, p, at); err != nil {
		return nil, err
	}
	digests, _, err = query.Digests(ctx, db.Readers(), compared)
	return digests, err
}

// CompareKept returns the names of the tables that are not compared with a rebuild, and that are not as they were written. Errors: *[ledger.NotCompared], and those of the database.
func CompareKept(ctx context.Context, have *sql.DB) (differ []string, err error) {
	if err := query.CheckSchema(ctx, have, schemaVersion); err != nil {
		return nil, err
	}
	return search.Differ(ctx, have)
}

// openTemporary opens a temporary file with empty views, and a projector that writes them.
func openTemporary(r Record) (*sqlitelog.Database, *projector, error) {
	db, err := sqlitelog.OpenDatabase("", 1)
	if err != nil {
		return nil, nil, err
	}
	p := newProjector(func(done) {})
	p.load = r.Stream
	if err := db.Write(func(tx *sqlconn.Tx) error { _, err := p.Setup(tx); return err }); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, p, nil
}

// upTo are the entries up to a position.
func upTo(entries []ledger.Entry, at ledger.Position) []ledger.Entry {
	for n := len(entries); n > 0 && entries[n-1].Position > at; n-- {
		entries = entries[:n-1]
	}
	return entries
}

const (
	// rebuildBatch is how many entries are folded before what they changed is written: most tasks have ended by then, and are written once.
	rebuildBatch = 32768
)

// replay projects everything up to a position.
func replay(ctx context.Context, r Record, db *sqlitelog.Database, p *projector, to ledger.Position) error {
	for after := ledger.Position(0); after < to; {
		err := db.Write(func(tx *sqlconn.Tx) (err error) {
			for end := min(after+rebuildBatch, to); err == nil && after < end; {
				after, err = step(ctx, r, tx, p, after, to)
			}
			if err != nil {
				return err
			}
			p.touched, p.claims = p.touched[:0], nil // nobody waits
			return p.flush(tx, after)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// step folds the next entries after a position up to another one, and returns the position of the last.
func step(ctx context.Context, r Record, tx *sqlconn.Tx, p *projector, after, to ledger.Position) (ledger.Position, error) {
	entries, err := ledger.Page(ctx, r, after, loadBatch)
	if err != nil {
		return after, err
	}
	if len(entries) == 0 {
		return to, fmt.Errorf("sqlview: the record ends at position %d, before %d", after, to)
	}
	if err := p.fold(tx, upTo(entries, to)); err != nil {
		return after, err
	}
	return min(entries[len(entries)-1].Position, to), nil
}
