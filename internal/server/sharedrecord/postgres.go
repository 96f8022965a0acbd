package sharedrecord

import (
	"context"

	"github.com/trapezehq/trapeze/internal/files/artifact/pgstore"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/frontend/pgfront"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog"
)

const (
	frontConnections    = 3 // beside those of the ledger: the turn, and what is exchanged
	artifactConnections = 4
)

// postgres is a record in a PostgreSQL database.
type postgres struct{ log *pglog.Log }

func openPostgres(ctx context.Context, url string, o Options) (Record, error) {
	log, err := pglog.Open(ctx, url, pglog.Options{Committed: o.Committed, Prepare: o.Prepare})
	if err != nil {
		return nil, err
	}
	return postgres{log}, nil
}

// Ledger implements [Record].
func (p postgres) Ledger() ledger.Ledger { return p.log }

// ID implements [Record].
func (p postgres) ID() string { return p.log.ID() }

// Acknowledged implements [Record].
func (p postgres) Acknowledged(at ledger.Position) { p.log.Acknowledged(at) }

// FrontEnds implements [Record].
func (p postgres) FrontEnds(ctx context.Context) (frontend.Store, error) {
	pool, err := p.log.Pool(ctx, frontConnections)
	if err != nil {
		return nil, err
	}
	s, err := pgfront.Open(ctx, pool, p.log.Schema())
	if err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Artifacts implements [Record].
func (p postgres) Artifacts(ctx context.Context, o ArtifactOptions) (Artifacts, error) {
	pool, err := p.log.Pool(ctx, artifactConnections)
	if err != nil {
		return Artifacts{}, err
	}
	s, err := pgstore.Open(ctx, pool, p.log.Schema(), pgstore.Options(o))
	if err != nil {
		pool.Close()
		return Artifacts{}, err
	}
	return Artifacts{s, s.Each}, nil
}

// Copy implements [Record].
func (p postgres) Copy(ctx context.Context, next func() ([]ledger.Entry, error)) error {
	return p.log.Copy(ctx, next)
}

// Close implements [Record].
func (p postgres) Close(context.Context) error { return p.log.Close() }
