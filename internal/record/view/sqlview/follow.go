package sqlview

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
)

const (
	followReaders = 4
	followPause   = time.Second // after a failure
)

// follower updates views that are in a database of their own.
type follower struct {
	ledger    ledger.Ledger
	projector *projector
	db        *sqlitelog.Database
	cancel    context.CancelFunc
	done      chan struct{}

	mu      sync.Mutex
	failure error
	broken  bool               // the projection failed
	until   ledger.Position    // where a rebuild ends
	asked   []chan error       // the waiting calls of rebuild
	stop    context.CancelFunc // ends the current Follow
}

// Follow keeps views of a ledger in a database at path, or in a temporary file if path is empty, and returns before they are
// complete. The end of ctx stops it as Close does. The views repair themselves: a projection that failed is tried again,
// and views that are ahead of the ledger are rebuilt.
func Follow(ctx context.Context, l ledger.Ledger, path string) (*Views, error) {
	db, err := sqlitelog.OpenDatabase(path, followReaders)
	if err != nil {
		return nil, err
	}
	v := newViews()
	v.attach(l, db.Readers())
	var at ledger.Position
	err = db.Write(func(tx *sqlitelog.Tx) (err error) { at, err = v.projector.Setup(tx); return err })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlview: %w", err), db.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{ledger: l, projector: v.projector, db: db, cancel: cancel, done: make(chan struct{})}
	v.follower = f
	v.projector.cursors.Keep(v.write)
	go f.run(ctx, at)
	return v, nil
}

func (f *follower) run(ctx context.Context, at ledger.Position) {
	defer close(f.done)
	for ctx.Err() == nil {
		follow, stop := context.WithCancel(ctx)
		err := f.begin(ctx, stop, &at)
		if err == nil {
			err = f.ledger.Follow(follow, at, func(entries []ledger.Entry) error {
				if err := f.project(entries); err != nil {
					return err
				}
				at = entries[len(entries)-1].Position
				return nil
			})
		}
		interrupted := follow.Err() != nil
		stop()
		if ctx.Err() == nil && !interrupted {
			f.fail(at, err)
			select {
			case <-time.After(followPause):
			case <-ctx.Done():
			}
		}
	}
	f.fail(at, errors.New("closed"))
}

// begin prepares for following: it empties the views if a rebuild is requested, or if they are ahead of the ledger and
// therefore of another one.
func (f *follower) begin(ctx context.Context, stop context.CancelFunc, at *ledger.Position) error {
	last, err := f.ledger.Last(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	asked := f.asked
	f.asked, f.stop = nil, stop
	f.mu.Unlock()
	if len(asked) == 0 && *at <= last {
		f.trust(*at, false)
		f.projector.Committed(*at)
		return nil
	}
	err = f.db.Write(f.projector.Reset)
	if err == nil {
		*at = 0
		f.mu.Lock()
		f.until, f.failure = last, errors.New("views are being rebuilt")
		f.mu.Unlock()
		f.projector.Committed(0)
		f.trust(0, false)
	}
	for _, ch := range asked {
		ch <- err
	}
	return err
}

func (f *follower) project(entries []ledger.Entry) error {
	err := f.db.Write(func(tx *sqlitelog.Tx) error { return f.projector.Project(tx, entries) })
	if err != nil {
		f.projector.forget()
		f.mu.Lock()
		f.broken = true
		f.mu.Unlock()
		return err
	}
	at := entries[len(entries)-1].Position
	f.trust(at, true)
	f.projector.Committed(at)
	return nil
}

// trust ends a failure: one of the ledger when the ledger answers, one of the projection only after a projection, and a
// rebuild when it is complete.
func (f *follower) trust(at ledger.Position, projected bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at < f.until || f.broken && !projected {
		return
	}
	f.broken, f.failure, f.until = false, nil, 0
}

func (f *follower) fail(at ledger.Position, err error) {
	f.mu.Lock()
	f.failure = fmt.Errorf("views end at %d: %w", at, err)
	f.mu.Unlock()
	f.projector.Committed(at) // wakes the waiters
}

func (f *follower) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failure
}

// rebuild requests a rebuild and returns when the views are empty.
func (f *follower) rebuild(ctx context.Context) error {
	begun := make(chan error, 1)
	f.mu.Lock()
	f.asked = append(f.asked, begun)
	if f.stop != nil {
		f.stop()
	}
	f.mu.Unlock()
	select {
	case err := <-begun:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-f.done:
		return f.err()
	}
}

func (f *follower) close() error {
	f.cancel()
	<-f.done
	return f.db.Close()
}
