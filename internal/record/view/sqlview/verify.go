package sqlview

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
)

// Digest returns the SHA-256, in hex, of all rows of the views, and the position of the views. Two views at the same
// position have the same digest. It reads every row.
func (v *Views) Digest(ctx context.Context) (digest string, at ledger.Position, err error) {
	parts, at, err := query.Digests(ctx, v.readers, compared)
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

// checkSchema returns a *[ledger.NotCompared] if a database has no views, or those of an earlier version of the program, which the next start builds again. Error: for a
// version that no program up to this one has.
func checkSchema(ctx context.Context, have *sql.DB) error {
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
	case version == schemaVersion:
		return nil
	case version > 0 && version < schemaVersion:
		return &ledger.NotCompared{Why: fmt.Sprintf("the views, since an earlier version of Trapeze made them (schema %d, and this one has %d): a server builds them again when it starts", version, schemaVersion)}
	}
	return fmt.Errorf("sqlview: the schema of the views is %d, by view_meta, and versions of Trapeze up to this one have 1 to %d: it was changed, or a newer version made them, which can verify them", version, schemaVersion)
}

// Reference is an artifact of a workspace to which an envelope refers.
type Reference struct{ Workspace, Digest string }

// References returns the artifacts to which envelopes refer, by the views in a database. Errors: *[ledger.NotCompared], and those of the database.
func References(ctx context.Context, have *sql.DB) (list []Reference, err error) {
	if err := checkSchema(ctx, have); err != nil {
		return nil, err
	}
	rows, err := have.QueryContext(ctx, "SELECT DISTINCT ws, digest FROM view_artifact ORDER BY ws, digest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r Reference
		if err := rows.Scan(&r.Workspace, &r.Digest); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// Compare compares the views in a database with new ones, built from a record in a temporary file, and returns the names of the tables that differ, and the
// position at which they were compared. Errors: *[ledger.NotCompared], and those of the record and the database.
func Compare(ctx context.Context, r Record, have *sql.DB) (differ []string, at ledger.Position, err error) {
	if err := checkSchema(ctx, have); err != nil {
		return nil, 0, err
	}
	old, at, err := query.Digests(ctx, have, compared)
	if err != nil {
		return nil, at, err
	}
	if last, err := r.Last(ctx); err != nil || last < at {
		return nil, at, errors.Join(err, fmt.Errorf("sqlview: the views end at position %d, by view_meta, and the record at %d", at, last))
	}
	db, p, err := openTemporary(r.Stream)
	if err != nil {
		return nil, at, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := replay(ctx, r, db, p, at); err != nil {
		return nil, at, err
	}
	made, _, err := query.Digests(ctx, db.Readers(), compared)
	if err != nil {
		return nil, at, err
	}
	for i, t := range compared {
		if string(old[i]) != string(made[i]) {
			differ = append(differ, t.Name)
		}
	}
	return differ, at, nil
}

// CompareKept returns the names of the tables that are not compared with a rebuild, and that are not as they were written. Errors: *[ledger.NotCompared], and those of the database.
func CompareKept(ctx context.Context, have *sql.DB) (differ []string, err error) {
	if err := checkSchema(ctx, have); err != nil {
		return nil, err
	}
	return search.Differ(ctx, have)
}

// loader reads entries of a stream after a position.
type loader func(ctx context.Context, stream ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error)

// openTemporary opens a temporary file with empty views, and a projector that writes them.
func openTemporary(load loader) (*sqlitelog.Database, *projector, error) {
	db, err := sqlitelog.OpenDatabase("", 1)
	if err != nil {
		return nil, nil, err
	}
	p := newProjector(func(done) {})
	p.load = load
	if err := db.Write(func(tx *sqlitelog.Tx) error { _, err := p.Setup(tx); return err }); err != nil {
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

// lagPause is the time between two reads of a ledger that lags.
const lagPause = 10 * time.Millisecond

// replay projects everything up to a position.
func replay(ctx context.Context, r Record, db *sqlitelog.Database, p *projector, to ledger.Position) error {
	for after := ledger.Position(0); after < to; {
		entries, err := r.Read(ctx, after, loadBatch)
		if err != nil {
			return err
		}
		if len(entries) == 0 { // a read may lag behind
			select {
			case <-time.After(lagPause):
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		if some := upTo(entries, to); len(some) > 0 {
			if err := db.Write(func(tx *sqlitelog.Tx) error { return p.Project(tx, some) }); err != nil {
				return err
			}
		}
		after = entries[len(entries)-1].Position
	}
	return nil
}
