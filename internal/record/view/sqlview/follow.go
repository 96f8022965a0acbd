package sqlview

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view/watch"
)

const (
	followReaders = 4
	followPause   = time.Second // after a failure
)

// follower updates views that are in a database of their own.
type follower struct {
	ledger    ledger.Ledger
	projector *projector
	hub       *watch.Hub[topic]
	db        *sqlitelog.Database
	cancel    context.CancelFunc
	done      chan struct{}

	writing     mutex           // held while the projector is at work, and for the next three
	at, written ledger.Position // of the newest entry heard, and of the tables
	promised    ledger.Position // the highest that others were told that the views have
	lost        bool            // what was heard could not be written: it is to be heard again

	mu      sync.Mutex
	failure error
	broken  bool               // the projection failed
	until   ledger.Position    // where a rebuild ends
	asked   []chan error       // the waiting calls of rebuild
	stop    context.CancelFunc // ends the current Follow
}

// mutex is a lock for which a caller may stop waiting. It is made with room for one.
type mutex chan struct{}

// lockFor locks, or returns the error of ctx when that ends first.
func (m mutex) lockFor(ctx context.Context) error {
	select {
	case m <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m mutex) Lock()   { m <- struct{}{} }
func (m mutex) Unlock() { <-m }

// Follow keeps views of a ledger in a database at path, or in a temporary file if path is empty, and returns before they are
// complete. The end of ctx stops it as Close does. The views repair themselves: a projection that failed is tried again,
// and views that are ahead of the ledger are rebuilt.
func Follow(ctx context.Context, l ledger.Ledger, path string) (*Views, error) {
	db, err := sqlitelog.OpenDatabase(path, followReaders)
	if err != nil {
		return nil, err
	}
	v := newViews()
	f := &follower{ledger: l, projector: v.projector, hub: v.hub, db: db, done: make(chan struct{}), writing: make(mutex, 1)}
	v.follower = f
	v.projector.late.Start(func() error { return f.catchUp(context.WithoutCancel(ctx)) })
	v.attach(l, db.Readers())
	err = db.Write(func(tx *sqlconn.Tx) (err error) { f.written, err = v.projector.Setup(tx); return err })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlview: %w", err), db.Close())
	}
	f.at = f.written
	ctx, f.cancel = context.WithCancel(ctx)
	v.projector.cursors.Keep(v.write)
	go f.run(ctx)
	return v, nil
}

func (f *follower) run(ctx context.Context) {
	defer close(f.done)
	for ctx.Err() == nil {
		follow, stop := context.WithCancel(ctx)
		at, err := f.begin(ctx, stop)
		if err == nil {
			err = f.ledger.Follow(follow, at, f.project)
		}
		interrupted := follow.Err() != nil
		stop()
		if ctx.Err() == nil && !interrupted {
			f.fail(err)
			select {
			case <-time.After(followPause):
			case <-ctx.Done():
			}
		}
	}
	f.projector.late.Stop()
	_ = f.catchUp(context.WithoutCancel(ctx)) // otherwise it is heard again
	f.fail(errors.New("closed"))
}

// begin prepares for following, and returns the position after which to follow: it empties the views if a rebuild is requested, or if they are ahead of the ledger and
// therefore of another one.
func (f *follower) begin(ctx context.Context, stop context.CancelFunc) (ledger.Position, error) {
	last, err := f.ledger.Last(ctx)
	if err != nil {
		return 0, err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	f.lost = false
	f.mu.Lock()
	asked := f.asked
	f.asked, f.stop = nil, stop
	f.mu.Unlock()
	if len(asked) == 0 && max(f.at, f.promised) <= last {
		f.trust(f.at, false)
		f.committed()
		return f.at, nil
	}
	err = f.db.Write(f.projector.Reset)
	if err != nil {
		f.reached(f.written) // the projector has forgotten what it had heard
		f.failed(err)
	} else {
		f.promised = 0
		f.reached(0)
		f.mu.Lock()
		f.until, f.failure = last, errors.New("views are being rebuilt")
		f.mu.Unlock()
		f.committed()
		f.trust(0, false)
	}
	for _, ch := range asked {
		ch <- err
	}
	return f.at, err
}

func (f *follower) project(entries []ledger.Entry) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.lost {
		return errors.New("what was heard could not be written")
	}
	if f.isBroken() || !onlyHeard(entries) {
		return f.write(entries)
	}
	now, err := f.projector.hear(entries)
	if err != nil {
		f.forget()
		return err
	}
	f.at = entries[len(entries)-1].Position
	if now {
		return f.write(nil)
	}
	f.trust(f.at, false)
	f.committed()
	return nil
}

// catchUp writes what was heard. Error: [ledger.ErrUnavailable] while something that the views had heard is to be heard again.
func (f *follower) catchUp(ctx context.Context) error {
	if err := f.writing.lockFor(ctx); err != nil {
		return err
	}
	defer f.writing.Unlock()
	if f.at < f.promised {
		return fmt.Errorf("%w: views end at %d, and hear the next entries up to %d again: repeat the call in a second", ledger.ErrUnavailable, f.at, f.promised)
	}
	if f.written == f.at {
		return nil
	}
	err := f.write(nil)
	if err != nil {
		f.lost = true
		f.failed(err)
		f.mu.Lock()
		f.stop()
		f.mu.Unlock()
	}
	return err
}

// write writes what was heard, and more entries.
func (f *follower) write(entries []ledger.Entry) error {
	err := f.db.Write(func(tx *sqlconn.Tx) error {
		if len(entries) == 0 {
			return f.projector.flush(tx, f.at)
		}
		return f.projector.project(tx, entries)
	})
	if err != nil {
		f.forget()
		return err
	}
	if len(entries) > 0 {
		f.at = entries[len(entries)-1].Position
	}
	f.reached(f.at)
	f.trust(f.at, true)
	f.committed()
	return nil
}

// reached notes the position of the tables.
func (f *follower) reached(at ledger.Position) {
	f.at, f.written = at, at
	if at >= f.promised {
		f.projector.late.None()
	}
}

// committed has others told of what was heard.
func (f *follower) committed() {
	f.promised = max(f.promised, f.at)
	f.projector.publish(f.at, f.written)
}

// forget gives up what was heard and not written.
func (f *follower) forget() {
	f.projector.Forget()
	f.reached(f.written)
	f.mu.Lock()
	f.broken = true
	f.mu.Unlock()
}

func (f *follower) isBroken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken
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

func (f *follower) fail(err error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.failed(err)
}

func (f *follower) failed(err error) {
	f.mu.Lock()
	f.failure = fmt.Errorf("views end at %d: %w", f.at, err)
	f.mu.Unlock()
	f.committed() // wakes the waiters
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
