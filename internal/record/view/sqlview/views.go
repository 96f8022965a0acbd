package sqlview

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
	"github.com/trapezehq/trapeze/internal/record/view/wake"
)

// Views are the views of one ledger. They are safe for concurrent use.
type Views struct {
	*search.Recall
	ledger    ledger.Ledger
	log       *sqlitelog.Log // nil when following
	follower  *follower      // nil when embedded
	projector *projector
	fresh     *wake.Hub[topic]
	readers   *sql.DB
	crowds    atomic.Uint64 // how often agents may have changed
	nobody    atomic.Bool   // waits for another task, in the state after the last commit

	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

// Store gives the views to those who know the contract alone.
func (v *Views) Store() view.Store {
	return view.Store{Board: v, Desks: v, Directory: v, References: v, Recall: v, Clockwork: v, Freshness: v}
}

func newViews() *Views {
	v := &Views{fresh: wake.New[topic](), stmts: map[string]*sql.Stmt{}}
	v.projector = newProjector(func(d done) {
		if d.crowd {
			v.crowds.Add(1)
		}
		v.nobody.Store(d.waiting.known && !d.waiting.some)
		v.fresh.Publish(d.at, d.touched, v.Err() != nil)
	})
	v.Recall = search.NewRecall(v.query, v.projector.known)
	return v
}

// OpenEmbedded opens the embedded ledger at path with views in its own file and transactions: they have every entry
// before its append is answered. Views that lag, or were made by another version, are first brought up to date, which
// takes about a minute per million entries. opts.Projector is ignored. Close the views first, then the log.
func OpenEmbedded(ctx context.Context, path string, opts sqlitelog.Options) (*sqlitelog.Log, *Views, error) {
	v := newViews()
	opts.Projector = v.projector
	log, err := sqlitelog.Open(path, opts)
	if err != nil {
		return nil, nil, err
	}
	v.log, v.ledger, v.projector.load, v.readers = log, log, log.Stream, log.Readers()
	if err := v.Heal(ctx); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("sqlview: %w", err), log.Close())
	}
	return log, v, nil
}

// Heal brings views back that are not to be trusted, see [Views.Err]: by projecting what they lack or, if that fails,
// everything. It does nothing while all is well, and nothing but wait where the views follow: those heal themselves.
func (v *Views) Heal(ctx context.Context) error {
	if v.log == nil {
		return v.complete(ctx)
	}
	err := v.log.CatchUp(ctx)
	if err == nil || ctx.Err() != nil || errors.Is(err, ledger.ErrUnavailable) {
		return err
	}
	return v.log.Rebuild(ctx)
}

// Rebuild empties the views and projects every entry anew; cursors stay. Appends go on, and readers see unfinished
// views meanwhile: Err says so where the views are embedded.
func (v *Views) Rebuild(ctx context.Context) error {
	if v.log != nil {
		return v.log.Rebuild(ctx)
	}
	if err := v.follower.rebuild(ctx); err != nil {
		return err
	}
	return v.complete(ctx)
}

// complete waits until the views have everything, whatever their failures.
func (v *Views) complete(ctx context.Context) error {
	last, err := v.ledger.Last(ctx)
	if err != nil {
		return err
	}
	return v.fresh.Wait(ctx, last, func() error { return nil })
}

// Close ends the following and releases the views' own resources. The ledger stays open.
func (v *Views) Close() error {
	v.mu.Lock()
	errs := []error{}
	for _, s := range v.stmts {
		errs = append(errs, s.Close())
	}
	clear(v.stmts)
	v.mu.Unlock()
	if v.follower != nil {
		errs = append(errs, v.follower.close())
	}
	return errors.Join(errs...)
}

// Wait implements [view.Freshness]. It also returns, with the reason, when the views are not to be trusted.
func (v *Views) Wait(ctx context.Context, at ledger.Position) error {
	return v.fresh.Wait(ctx, at, v.Err)
}

// Watch implements [view.Freshness].
func (v *Views) Watch(workspace, agent string) (changed <-chan struct{}, stop func()) {
	return v.fresh.Watch(topic{workspace: workspace, agent: agent})
}

// WatchTask implements [view.Freshness].
func (v *Views) WatchTask(workspace, task string) (changed <-chan struct{}, stop func()) {
	return v.fresh.Watch(topic{workspace: workspace, task: task})
}

// Position implements [view.Freshness].
func (v *Views) Position() ledger.Position { return v.fresh.Position() }

// Err implements [view.Freshness].
func (v *Views) Err() error {
	var err error
	switch {
	case v.follower != nil:
		err = v.follower.err()
	case v.log != nil:
		err = v.log.Stale()
	}
	if err != nil {
		return fmt.Errorf("sqlview: the views cannot be trusted until they are healed or rebuilt: %w", err)
	}
	return nil
}

// query runs a query, prepared once, and calls each for every row.
func (v *Views) query(ctx context.Context, each func(*sql.Rows) error, query string, args ...any) (err error) {
	s, err := v.prepared(ctx, query) //nolint:sqlclosecheck // kept until Close
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	for err == nil && rows.Next() {
		err = each(rows)
	}
	return err
}

// maxStatements bounds the statements that are kept: searches have very many shapes.
const maxStatements = 256

func (v *Views) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	v.mu.RLock()
	s := v.stmts[query]
	v.mu.RUnlock()
	if s != nil {
		return s, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.stmts[query]; s != nil {
		return s, nil
	}
	if len(v.stmts) >= maxStatements {
		for old, s := range v.stmts { // any of them: who still reads from it may finish
			delete(v.stmts, old)
			_ = s.Close()
			break
		}
	}
	s, err := v.readers.PrepareContext(ctx, query) //nolint:sqlclosecheck // kept until Close
	if err != nil {
		return nil, fmt.Errorf("sqlview: %w", err)
	}
	v.stmts[query] = s
	return s, nil
}
