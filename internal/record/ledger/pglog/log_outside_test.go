//go:build outside

package pglog

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

func open(t testing.TB, url string, opts Options) *Log {
	t.Helper()
	l, err := Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

var schemas atomic.Int64

// newSchema returns the name of a schema that no other test of this process uses.
func newSchema() string { return fmt.Sprintf("test%d", schemas.Add(1)) }

func TestLogPassesTheSuite(t *testing.T) {
	s := pgtest.Start(t)
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger {
		return open(t, s.URL(), Options{Schema: newSchema()})
	})
}

func TestLogIsDurable(t *testing.T) {
	s := pgtest.Start(t)
	places := map[string]string{}
	ledgertest.RunDurable(t, func(t *testing.T, place string) ledger.Ledger {
		if places[place] == "" {
			places[place] = newSchema()
		}
		l := open(t, s.URL(), Options{Schema: places[place]})
		s.Kill() // between two rounds, and while the log is open
		s.Run()
		return l
	})
}

// frontEnds is several logs on one database as one ledger: each call goes to the next of them.
type frontEnds struct {
	logs []*Log
	n    atomic.Uint64
}

func (f *frontEnds) next() *Log { return f.logs[f.n.Add(1)%uint64(len(f.logs))] }

func (f *frontEnds) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	return f.next().Append(ctx, e, expect)
}

func (f *frontEnds) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	return f.next().Stream(ctx, s, after, limit)
}

func (f *frontEnds) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	return f.next().Read(ctx, after, limit)
}

func (f *frontEnds) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	return f.next().Follow(ctx, after, fn)
}

func (f *frontEnds) Last(ctx context.Context) (ledger.Position, error) { return f.next().Last(ctx) }

func (f *frontEnds) Err() error { return f.next().Err() }

func (f *frontEnds) Close() error {
	for _, l := range f.logs {
		_ = l.Close()
	}
	return nil
}

func TestFrontEndsOnOneDatabasePassTheSuite(t *testing.T) {
	s := pgtest.Start(t)
	for name, opts := range map[string]Options{"with-notifications": {}, "without": {deaf: true, Poll: 20 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Run(t, func(t *testing.T) ledger.Ledger {
				o := opts
				o.Schema = newSchema()
				f := &frontEnds{}
				var mu sync.Mutex
				var all sync.WaitGroup
				for range 3 { // they create the tables at the same time
					all.Go(func() {
						l := open(t, s.URL(), o)
						mu.Lock()
						defer mu.Unlock()
						f.logs = append(f.logs, l)
					})
				}
				all.Wait()
				return f
			})
		})
	}
}
