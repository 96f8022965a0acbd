package pgfront

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// creation makes the tables. Earlier versions had an index of the times in heard, with which each update of a row, one a second for each agent at work, changed both indexes.
const creation = `
CREATE TABLE IF NOT EXISTS S.secret(
	name text PRIMARY KEY,
	value text NOT NULL
);
CREATE TABLE IF NOT EXISTS S.heard(
	agent text COLLATE "C" PRIMARY KEY,
	at timestamptz NOT NULL
);
DROP INDEX IF EXISTS S.heard_at;
CREATE TABLE IF NOT EXISTS S.cursor(
	name text PRIMARY KEY,
	position bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS S.front(
	name text COLLATE "C" PRIMARY KEY,
	about text NOT NULL,
	at timestamptz NOT NULL,
	drain boolean NOT NULL
);
DELETE FROM S.front WHERE at < now() - interval '7 days';
DELETE FROM S.heard WHERE at < now() - interval '7 days';
`

// Store keeps what front ends share in tables beside the record. It is safe for concurrent use.
type Store struct {
	pool   *pgxpool.Pool
	schema string
}

var _ frontend.Store = (*Store)(nil)

// Open returns the store in the schema of a record, by a pool of connections, and creates its tables if there are none. Close closes the pool.
func Open(ctx context.Context, pool *pgxpool.Pool, schema string) (*Store, error) {
	s := &Store{pool: pool, schema: schema}
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// Front ends that are started together create the tables once.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", "trapeze_"+schema); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, s.in(creation))
		return err
	})
	if err != nil {
		return nil, wrap(err)
	}
	return s, nil
}

func (s *Store) in(query string) string { return strings.ReplaceAll(query, "S.", s.schema+".") }

// Close implements [frontend.Store].
func (s *Store) Close() { s.pool.Close() }

// Secret implements [frontend.Store].
func (s *Store) Secret(ctx context.Context, name string, generate func() (string, error)) (value string, err error) {
	const read = "SELECT value FROM S.secret WHERE name = $1"
	err = s.pool.QueryRow(ctx, s.in(read), name).Scan(&value)
	if !errors.Is(err, pgx.ErrNoRows) {
		return value, wrap(err)
	}
	made, err := generate()
	if err != nil {
		return "", err
	}
	if _, err := s.pool.Exec(ctx, s.in("INSERT INTO S.secret VALUES($1, $2) ON CONFLICT DO NOTHING"), name, made); err != nil {
		return "", wrap(err)
	}
	err = s.pool.QueryRow(ctx, s.in(read), name).Scan(&value) // that of another, if it was first
	return value, wrap(err)
}

// Cursor implements [frontend.Store].
func (s *Store) Cursor(ctx context.Context, name string) (ledger.Position, error) {
	var at int64
	err := s.pool.QueryRow(ctx, s.in("SELECT position FROM S.cursor WHERE name = $1"), name).Scan(&at)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, wrap(err)
	}
	return ledger.Position(at), nil //nolint:gosec // never negative
}

// RaiseCursor implements [frontend.Store].
func (s *Store) RaiseCursor(ctx context.Context, name string, at ledger.Position) error {
	_, err := s.pool.Exec(ctx, s.in(`INSERT INTO S.cursor AS c VALUES($1, $2) ON CONFLICT (name) DO UPDATE SET position = excluded.position
		WHERE c.position < excluded.position`), name, int64(at)) //nolint:gosec // positions are less
	return wrap(err)
}

// Exchange implements [frontend.Store].
func (s *Store) Exchange(ctx context.Context, agents map[string]time.Duration, within time.Duration) (map[string]time.Duration, error) {
	if err := s.tell(ctx, agents); err != nil {
		return nil, wrap(err)
	}
	heard, err := s.heard(ctx, within)
	return heard, wrap(err)
}

func (s *Store) tell(ctx context.Context, agents map[string]time.Duration) error {
	if len(agents) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(agents)) // front ends lock the rows in the same order
	ages := make([]float64, len(names))
	for i, name := range names {
		ages[i] = agents[name].Seconds()
	}
	_, err := s.pool.Exec(ctx, s.in(`INSERT INTO S.heard AS h SELECT agent, clock_timestamp() - make_interval(secs => age) FROM unnest($1::text[], $2::float8[]) AS n(agent, age)
		ON CONFLICT (agent) DO UPDATE SET at = greatest(h.at, excluded.at)`), names, ages)
	return err
}

// heard returns how long ago agents were heard of that were within a time.
func (s *Store) heard(ctx context.Context, within time.Duration) (map[string]time.Duration, error) {
	rows, err := s.pool.Query(ctx, s.in(`SELECT agent, extract(epoch FROM clock_timestamp() - at)::float8 FROM S.heard WHERE at > clock_timestamp() - make_interval(secs => $1)`),
		within.Seconds())
	if err != nil {
		return nil, err
	}
	heard := map[string]time.Duration{}
	var agent string
	var age float64
	_, err = pgx.ForEachRow(rows, []any{&agent, &age}, func() error {
		heard[agent] = time.Duration(age * float64(time.Second))
		return nil
	})
	return heard, err
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("pgfront: %w", err)
}
