package frontend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

const creation = `
CREATE TABLE IF NOT EXISTS S.secret(
	name text PRIMARY KEY,
	value text NOT NULL
);
CREATE TABLE IF NOT EXISTS S.heard(
	agent text COLLATE "C" PRIMARY KEY,
	at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS heard_at ON S.heard(at);
CREATE TABLE IF NOT EXISTS S.cursor(
	name text PRIMARY KEY,
	position bigint NOT NULL
);
DELETE FROM S.heard WHERE at < now() - interval '7 days';
`

const (
	// Every is how often front ends exchange when agents were heard of, and look whether the turn is theirs.
	Every = time.Second
	// overlap is how much further back than the last exchange is read: those that were late to commit.
	overlap = 30 * time.Second
	// patience is the time limit of each exchange.
	patience = 5 * time.Second
)

// FrontEnd is one of those that share a record. It is safe for concurrent use.
type FrontEnd struct {
	pool   *pgxpool.Pool
	schema string

	mu      sync.Mutex
	turn    bool
	changed chan struct{} // is closed when turn changes
	saved   map[string]ledger.Position
}

// Open returns a front end by a pool of connections to the database, and creates the tables in the schema of the record if there are none. Close
// closes the pool.
func Open(ctx context.Context, pool *pgxpool.Pool, schema string) (*FrontEnd, error) {
	f := &FrontEnd{pool: pool, schema: schema, changed: make(chan struct{}), saved: map[string]ledger.Position{}}
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// Front ends that are started together create the tables once.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", "trapeze_"+schema); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, f.in(creation))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("frontend: %w", err)
	}
	return f, nil
}

func (f *FrontEnd) in(query string) string { return strings.ReplaceAll(query, "S.", f.schema+".") }

// Close closes the connections.
func (f *FrontEnd) Close() { f.pool.Close() }

// Secret returns a key that all front ends have; the first that needs it makes it.
func (f *FrontEnd) Secret(ctx context.Context, name string, generate func() (string, error)) (value string, err error) {
	const read = "SELECT value FROM S.secret WHERE name = $1"
	err = f.pool.QueryRow(ctx, f.in(read), name).Scan(&value)
	if !errors.Is(err, pgx.ErrNoRows) {
		return value, wrap(err)
	}
	made, err := generate()
	if err != nil {
		return "", err
	}
	if _, err := f.pool.Exec(ctx, f.in("INSERT INTO S.secret VALUES($1, $2) ON CONFLICT DO NOTHING"), name, made); err != nil {
		return "", wrap(err)
	}
	err = f.pool.QueryRow(ctx, f.in(read), name).Scan(&value) // that of another, if it was first
	return value, wrap(err)
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("frontend: %w", err)
}

// Presence is when agents were heard of.
type Presence interface {
	// News returns how long ago agents were heard of at this front end, for those that were since the last call.
	News() map[string]time.Duration
	// Learn takes how long ago agents were heard of at any front end.
	Learn(map[string]time.Duration)
}

// Share exchanges when agents were heard of, and saves what [FrontEnd.Cursors] keep, each second until ctx ends. report is told of the first failure in a row, and with nil of its end.
func (f *FrontEnd) Share(ctx context.Context, p Presence, report func(error)) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	failing := false
	unsent := map[string]time.Duration{}
	var last time.Time
	for ctx.Err() == nil {
		began := time.Now()
		for agent, age := range p.News() {
			unsent[agent] = age
		}
		heard, err := f.exchange(ctx, unsent, began.Sub(last)+overlap)
		if err == nil {
			err = f.flush(ctx)
		}
		switch {
		case err == nil:
			p.Learn(heard)
			last = began
			clear(unsent)
		case ctx.Err() != nil:
			return
		case !failing:
			report(err)
		}
		if failing && err == nil {
			report(nil)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		for agent := range unsent { // it fails, and they become older
			unsent[agent] += time.Since(began)
		}
	}
}

// exchange tells of some agents how long ago they were heard of, and returns that of all that were within a time.
func (f *FrontEnd) exchange(ctx context.Context, news map[string]time.Duration, within time.Duration) (map[string]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if len(news) > 0 {
		var agents []string
		for agent := range news {
			agents = append(agents, agent)
		}
		slices.Sort(agents) // front ends lock the rows in the same order
		ages := make([]float64, len(agents))
		for i, agent := range agents {
			ages[i] = news[agent].Seconds()
		}
		_, err := f.pool.Exec(ctx, f.in(`INSERT INTO S.heard AS h SELECT agent, clock_timestamp() - make_interval(secs => age) FROM unnest($1::text[], $2::float8[]) AS n(agent, age)
			ON CONFLICT (agent) DO UPDATE SET at = greatest(h.at, excluded.at)`), agents, ages)
		if err != nil {
			return nil, wrap(err)
		}
	}
	rows, err := f.pool.Query(ctx, f.in(`SELECT agent, extract(epoch FROM clock_timestamp() - at)::float8 FROM S.heard WHERE at > clock_timestamp() - make_interval(secs => $1)`),
		min(within, 7*24*time.Hour).Seconds())
	if err != nil {
		return nil, wrap(err)
	}
	heard := map[string]time.Duration{}
	var agent string
	var age float64
	_, err = pgx.ForEachRow(rows, []any{&agent, &age}, func() error {
		heard[agent] = time.Duration(age * float64(time.Second))
		return nil
	})
	return heard, wrap(err)
}
