package pglog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Format is the number of the format of the tables. It increases with everything that older programs cannot read: the tables, the form of
// entries, and events or versions of them that they do not have.
const Format = 1

// creation makes the tables of the newest format in the schema S. An entry is unique after the one before it in its stream; that index is also
// the one by which streams are read.
const creation = `
CREATE TABLE S.record(
	one boolean PRIMARY KEY DEFAULT true CHECK (one),
	format int NOT NULL,
	id text NOT NULL,
	last bigint NOT NULL
);
CREATE TABLE S.entries(
	position bigint PRIMARY KEY,
	stream text COLLATE "C" NOT NULL,
	previous bigint NOT NULL,
	bytes bytea NOT NULL,
	UNIQUE (stream, previous)
);
CREATE FUNCTION S.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN RAISE EXCEPTION 'entries of a record are never changed or removed'; END
$$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON S.entries
	FOR EACH STATEMENT EXECUTE FUNCTION S.refuse();
INSERT INTO S.record(format, id, last) VALUES(FORMAT, gen_random_uuid()::text, 0);
`

// queries are the statements of a log, with S as the schema.
type queries struct{ lock, status, last, heads, insert, move, probe, read, stream string }

func newQueries(schema string) queries {
	in := func(query string) string { return strings.ReplaceAll(query, "S.", schema+".") }
	const status = "SELECT format, id, last, " + settingsColumns + " FROM S.record"
	return queries{
		lock:   in(status + " FOR UPDATE"),
		status: in(status),
		last:   in("SELECT coalesce(max(position), 0) FROM S.entries"),
		heads: in(`SELECT s.name, e.position, e.bytes FROM unnest($1::text[], $2::boolean[]) AS s(name, timed) CROSS JOIN LATERAL
			(SELECT position, CASE WHEN s.timed THEN bytes END AS bytes FROM S.entries WHERE stream = s.name ORDER BY previous DESC LIMIT 1) AS e`),
		insert: in("INSERT INTO S.entries(position, stream, previous, bytes) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bytea[])"),
		move:   in("UPDATE S.record SET last = $1 RETURNING pg_notify('" + channel(schema) + "', '')"),
		probe:  in("UPDATE S.record SET last = last"),
		read:   in("SELECT position, stream, previous, bytes FROM S.entries WHERE position > $1 ORDER BY position LIMIT $2"),
		// The first entry after a position follows one that is not after it.
		stream: in(`SELECT position, stream, previous, bytes FROM S.entries WHERE stream = $1 AND position > $2 AND previous >=
			(SELECT coalesce(max(previous), 0) FROM S.entries WHERE stream = $1 AND previous <= $2) ORDER BY previous LIMIT $3`),
	}
}

func channel(schema string) string { return "trapeze_" + schema }

// migrate creates the tables if there are none, and refuses those of other programs or of a newer format.
func migrate(ctx context.Context, conn *pgx.Conn, schema string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Front ends that are started together create it once.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", channel(schema)); err != nil {
			return err
		}
		var tables int
		var ours bool
		err := tx.QueryRow(ctx, `SELECT count(*), coalesce(bool_or(tablename = 'record'), false) FROM pg_tables WHERE schemaname = $1`, schema).Scan(&tables, &ours)
		switch {
		case err != nil:
			return err
		case tables > 0 && !ours:
			return fmt.Errorf("pglog: the schema %s has tables of another program: use another schema or database", schema)
		case tables == 0:
			return create(ctx, tx, schema)
		}
		var format int
		if err := tx.QueryRow(ctx, "SELECT format FROM "+schema+".record").Scan(&format); err != nil {
			return err
		}
		return checkFormat(format)
	})
}

func create(ctx context.Context, tx pgx.Tx, schema string) error {
	script := strings.NewReplacer("S.", schema+".", "FORMAT", strconv.Itoa(Format)).Replace(creation)
	var exists bool // it may have been created for us, by an administrator
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", schema).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		script = "CREATE SCHEMA " + schema + ";" + script
	}
	_, err := tx.Exec(ctx, script)
	if code(err) == codePrivilege {
		return fmt.Errorf("pglog: %w (have an administrator of the database run CREATE SCHEMA %s AUTHORIZATION, followed by the role of the URL)", err, schema)
	}
	return err
}

func checkFormat(format int) error {
	if format == Format {
		return nil
	}
	return fmt.Errorf("pglog: the record has format %d, and this version of Trapeze reads and writes format %d: use the version that has written it or a newer one; nothing was changed", format, Format)
}

// status is the row of the table record, and the settings of the server.
type status struct {
	format int
	id     string
	last   ledger.Position
	settings
}

func (s *status) scan(row pgx.Row) error {
	return row.Scan(&s.format, &s.id, &s.last, &s.fsync, &s.fullPages, &s.commit)
}

// errLost and errReplaced are for what stays so until somebody repairs it.
var (
	errLost     = errors.New("the database has lost entries that were confirmed: it may have been restored from a backup, or a standby took over that was not synchronous. Restore the newest copy that has them, and start again")
	errReplaced = errors.New("the database has another record than when the server was started: start again, with the right URL")
)
