package sqlview

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/tasklist"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/ticketlist"
	"github.com/trapezehq/trapeze/internal/record/view/watch"
)

// Views are the views of one ledger. They are safe for concurrent use.
type Views struct {
	*search.Reader
	*tasklist.Lists
	*ticketlist.Desk
	ledger       ledger.Ledger
	log          *sqlitelog.Log // nil when following
	follower     *follower      // nil when embedded
	projector    *projector
	hub          *watch.Hub[topic]
	readers      *sql.DB
	db           *query.DB     // a query has what was heard before it
	tables       *query.DB     // a query has what was written
	agentChanges atomic.Uint64 // how often agents may have changed
	noDependents atomic.Bool   // no task waits for another, in the state after the last commit
	maker        maker
}

// Store returns the views as their interfaces.
func (v *Views) Store() view.Store {
	return view.Store{TaskQueries: v, TicketQueries: v, DecisionQueries: v, Directory: v, WorkspaceQueries: v, References: v, MemoryQueries: v, MemoryVectors: v, Timers: v, Counts: v, Cursors: v, Freshness: v}
}

func newViews() *Views {
	v := &Views{hub: watch.New[topic]()}
	v.projector = newProjector(func(d done) {
		if d.heard && v.Err() == nil {
			v.noDependents.Store(d.dependents == none)
			v.hub.Reach(d.at, d.keys)
			return
		}
		if d.agents {
			v.agentChanges.Add(1)
		}
		v.noDependents.Store(d.dependents == none)
		for _, c := range d.claims {
			if c.over {
				v.hub.Withdraw(c.of)
			}
			if len(c.to) > 0 {
				v.hub.Offer(c.of, c.to)
			}
		}
		v.hub.Publish(d.at, d.touched, v.Err() != nil)
	})
	return v
}

// attach sets the ledger of the views and the pool for reading them.
func (v *Views) attach(l ledger.Ledger, readers *sql.DB) {
	v.ledger, v.projector.load, v.projector.watched = l, l.Stream, v.hub.Watched
	v.readers, v.db, v.tables = readers, query.New(readers), query.New(readers)
	v.db.Before = v.catchUp
	v.Lists, v.Desk = tasklist.New(v.db), ticketlist.New(v.db)
	v.Reader = search.NewReader(v.db, v.projector.memory)
}

// OpenEmbedded opens the embedded ledger at path with views in the same file and transactions: they have every entry before
// its append returns, though their tables may lack it. Views that lag, or have another schema version, are updated first, which takes about a minute per
// million entries. opts.Projector is ignored. Close the views first, then the log.
func OpenEmbedded(ctx context.Context, path string, opts sqlitelog.Options) (*sqlitelog.Log, *Views, error) {
	v := newViews()
	opts.Projector = v.projector
	log, err := sqlitelog.Open(path, opts)
	if err != nil {
		return nil, nil, err
	}
	v.log = log
	v.attach(log, log.Readers())
	v.projector.late.Start(func() error { return log.Flush(context.WithoutCancel(ctx)) })
	v.projector.cursors.Keep(v.write)
	if err = v.Heal(ctx); errors.Is(err, ledger.ErrFull) { // no list is shown until they are healed, when there is space
		v.projector.late.More(1)
	} else if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("sqlview: %w", err), v.Close(), log.Close())
	}
	return log, v, nil
}

// Heal repairs views that are not reliable, see [Views.Err]: it projects the entries that they lack or, if that fails, all
// entries. It does nothing if the views are reliable, and only waits if they follow: those repair themselves.
func (v *Views) Heal(ctx context.Context) error {
	if v.log == nil {
		return v.complete(ctx)
	}
	err := v.log.CatchUp(ctx)
	if _, away := ledger.AsPutAway(err); away || err == nil || ctx.Err() != nil || errors.Is(err, ledger.ErrUnavailable) {
		return err
	}
	return v.log.Rebuild(ctx)
}

// Rebuild empties the views and projects every entry again; cursors are kept. Appends continue, and readers see incomplete
// views meanwhile: Err says so if the views are embedded. Those stay as they are if an entry cannot be read ([ledger.Damaged]).
func (v *Views) Rebuild(ctx context.Context) error {
	if v.log != nil {
		if err := v.readAll(ctx); err != nil {
			return fmt.Errorf("sqlview: the views cannot be built again, and stay as they are: %w", err)
		}
		return v.log.Rebuild(ctx)
	}
	if err := v.follower.rebuild(ctx); err != nil {
		return err
	}
	return v.complete(ctx)
}

// readAll reads every entry.
func (v *Views) readAll(ctx context.Context) error {
	for after := ledger.Position(0); ; {
		list, err := ledger.Page(ctx, v.ledger, after, loadBatch)
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[len(list)-1].Position
	}
}

// catchUp writes what the tables lack.
func (v *Views) catchUp(ctx context.Context) error {
	if !v.projector.late.Behind() {
		return nil
	}
	defer ledger.Pause(ctx)()
	if v.follower != nil {
		return v.follower.catchUp(ctx)
	}
	v.projector.late.Ask()
	return v.log.Flush(ctx)
}

// complete waits until the views have every entry, whatever their failures.
func (v *Views) complete(ctx context.Context) error {
	last, err := v.ledger.Last(ctx)
	if err != nil {
		return err
	}
	return v.hub.Wait(ctx, last, func() error { return nil })
}

// Close writes the cursors, stops following and releases the resources of the views. The ledger stays open.
func (v *Views) Close() error {
	v.projector.cursors.Close()
	if v.log != nil {
		_ = v.catchUp(context.Background()) // otherwise it is projected again
		v.projector.late.Stop()
	}
	err := errors.Join(v.db.Close(), v.tables.Close(), v.Purge())
	if v.follower != nil {
		err = errors.Join(err, v.follower.close())
	}
	return err
}

// Wait implements [view.Freshness]. It also returns, with the reason, if the views are not reliable.
func (v *Views) Wait(ctx context.Context, at ledger.Position) error {
	if v.Position() < at {
		defer ledger.Pause(ctx)()
	}
	return v.hub.Wait(ctx, at, v.Err)
}

// Watch implements [view.Freshness].
func (v *Views) Watch(workspace, agent string) (changed <-chan struct{}, stop func()) {
	return v.hub.Watch(topic{workspace: workspace, agent: agent})
}

// WatchTask implements [view.Freshness].
func (v *Views) WatchTask(workspace, task string) (changed <-chan struct{}, stop func()) {
	return v.hub.Watch(topic{workspace: workspace, task: task})
}

// Position implements [view.Freshness].
func (v *Views) Position() ledger.Position { return v.hub.Position() }

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
		return fmt.Errorf("sqlview: the views are not reliable until they are repaired or rebuilt: %w", err)
	}
	return nil
}
