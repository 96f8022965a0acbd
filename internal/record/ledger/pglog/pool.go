package pglog

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// ID returns the name of the record, which it was given when its tables were created.
func (l *Log) ID() string {
	l.health.mu.Lock()
	defer l.health.mu.Unlock()
	return l.health.id
}

// Schema returns the schema of the tables.
func (l *Log) Schema() string { return l.opts.Schema }

// Pool returns up to most connections to the database of the record, for what front ends share beside it. The caller closes it.
func (l *Log) Pool(ctx context.Context, most int32) (*pgxpool.Pool, error) {
	p, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	p.ConnConfig, p.MaxConns, p.MinConns = l.config.Copy(), most, 0
	return pgxpool.NewWithConfig(context.WithoutCancel(ctx), p)
}

// Acknowledged tells the log of a position up to which entries are known to have been appended, as does that of [Options].
func (l *Log) Acknowledged(p ledger.Position) { l.health.reached(p) }
