//go:build outside

package pglog

import (
	"errors"
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

func TestFrontEndsOnOneDatabasePassTheSuite(t *testing.T) {
	s := pgtest.Start(t)
	for name, opts := range map[string]Options{"with-notifications": {}, "without": {deaf: true, Poll: 20 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Run(t, func(t *testing.T) ledger.Ledger {
				o := opts
				o.Schema = newSchema()
				var logs []ledger.Ledger
				var mu sync.Mutex
				var all sync.WaitGroup
				for range 3 { // they create the tables at the same time
					all.Go(func() {
						l := open(t, s.URL(), o)
						mu.Lock()
						defer mu.Unlock()
						logs = append(logs, l)
					})
				}
				all.Wait()
				return ledgertest.FrontEnds(logs...)
			})
		})
	}
}

func TestEntriesArePreparedForFollowers(t *testing.T) {
	s := pgtest.Start(t)
	ledgertest.RunPrepares(t, func(t *testing.T, prepare func(*ledger.Entry)) ledger.Ledger {
		return open(t, s.URL(), Options{Schema: newSchema(), Prepare: prepare})
	})
}

type appended struct{ Text string }

func (appended) EventName() string { return "appended" }

func TestWhatAFrontEndHasAppendedIsNotDecodedForItsFollowers(t *testing.T) {
	s := pgtest.Start(t)
	o := Options{Schema: newSchema()}
	here, there := open(t, s.URL(), o), open(t, s.URL(), o)
	event, err := ledger.NewCodec(appended{}).Encode(appended{"some text"})
	if err != nil {
		t.Fatal(err)
	}
	e := ledgertest.NewEntry("w/task/1", 1, "")
	e.Events = []ledger.Event{event}
	if _, err := here.Append(t.Context(), e, 0); err != nil {
		t.Fatal(err)
	}
	done := errors.New("enough")
	for l, want := range map[*Log]bool{here: true, there: false} {
		err := l.Follow(t.Context(), 0, func(entries []ledger.Entry) error {
			if got := entries[0].Events[0]; got.Decoded() != want || string(got.Data) != string(event.Data) {
				t.Errorf("decoded: %v, want %v; %s", got.Decoded(), want, got.Data)
			}
			return done
		})
		if !errors.Is(err, done) {
			t.Error(err)
		}
	}
}
