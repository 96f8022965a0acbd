//go:build slow

package natslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// leader stands for the leader of a stream. Messages of its subject are on their way for it until it has stepped down, or until other messages are stored.
type leader struct {
	log      bytes.Buffer // of those who ask it
	denies   bool         // it may not be asked to step down
	stuck    atomic.Bool
	left     atomic.Int64 // answers before what is on its way is stored; 0: it never is
	deposed  atomic.Int64
	conflict bool // what was on its way is another entry
}

func (f *leader) answer(m *nats.Msg) {
	text := `{"stream":"S","seq":7}`
	if f.stuck.Load() {
		text = `{"error":{"err_code":10164,"description":"wrong last sequence"}}`
		if f.left.Add(-1) == 0 {
			f.stuck.Store(false)
		}
	} else if f.conflict {
		text = `{"error":{"err_code":10071,"description":"wrong last sequence: 5"}}`
	}
	_ = m.Respond([]byte(text))
}

// logAt returns a log whose leader is another program.
func logAt(t *testing.T, f *leader, stuck time.Duration) *Log {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	down := func(m *nats.Msg) {
		f.deposed.Add(1)
		f.stuck.Store(false)
		if f.denies {
			_ = m.Respond([]byte(`{"error":{"err_code":10039,"description":"not allowed"}}`))
			return
		}
		_ = m.Respond([]byte(`{"success":true}`))
	}
	for subject, do := range map[string]nats.MsgHandler{"s.>": f.answer, "$JS.API.STREAM.LEADER.STEPDOWN.S": down} {
		if _, err := conn.Subscribe(subject, do); err != nil {
			t.Fatal(err)
		}
	}
	l := &Log{opts: Options{Name: "S", stuck: stuck, Log: slog.New(slog.NewTextHandler(&f.log, nil))}.withDefaults(), conn: conn, closing: make(chan struct{})}
	if _, err := l.leaders.subscribe(conn, "S"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.replies.subscribe(conn); err != nil {
		t.Fatal(err)
	}
	return l
}

// A leader that says for good that a message is on its way, while none is, would let nobody append to that stream any more.
func TestALeaderForWhichAStreamStaysOccupiedIsDeposed(t *testing.T) {
	for name, test := range map[string]struct {
		left     int64
		conflict bool
		deposed  int64
		denies   bool
		want     error
	}{
		"nothing is on its way":   {deposed: 1},
		"it may not be asked":     {deposed: 1, denies: true},
		"it is stored in time":    {left: 2, conflict: true, want: ledger.ErrConflict},
		"it came to nothing":      {left: 2},
		"nothing, and it changed": {conflict: true, deposed: 1, want: ledger.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			f := &leader{conflict: test.conflict, denies: test.denies}
			f.stuck.Store(true)
			f.left.Store(test.left)
			stuck := 30 * time.Millisecond
			if test.left > 0 {
				stuck = patience // however slow the machine is
			}
			l := logAt(t, f, stuck)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			at, err := l.putFrame(ctx, "w/task/1", []byte("entry"), 3)
			if !errors.Is(err, test.want) || err == nil && at != 7 {
				t.Errorf("%d, %v; want %v", at, err, test.want)
			}
			if text := f.log.String(); strings.Contains(text, "subject=s.") != (test.deposed > 0) || strings.Contains(text, "not allowed") != test.denies {
				t.Errorf("it logs %q", text)
			}
			if n := f.deposed.Load(); n != test.deposed {
				t.Errorf("it was deposed %d times, want %d", n, test.deposed)
			}
		})
	}
}

func TestALeaderIsNotDeposedAgainAtOnceNorForOneMessageAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o Occupied
		refused := func(subject string, after, wait time.Duration) bool {
			time.Sleep(wait)
			return o.refused(subject, after)
		}
		o.refused("a", stuckAfter)
		o.answered("a")
		got := []bool{
			refused("a", stuckAfter, stuckAfter), // it was answered meanwhile
			refused("a", stuckAfter, stuckGap+1), // nobody has asked for long
			refused("a", stuckAfter, stuckAfter/2),
			refused("a", stuckAfter, stuckAfter/2),      // now
			refused("a", stuckAfter, stuckAfter/2),      // another leads
			refused("b", 0, deposeEvery-stuckAfter/2-1), // not yet
			refused("b", 0, 1),
		}
		if want := []bool{false, false, false, true, false, false, true}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// While there is an election, nobody steps down.
func TestALeaderThatWasNotThereToStepDownIsAskedAgain(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, &apiError{ErrCode: 10039}: false, // it may not be asked
		&apiError{ErrCode: codeNotAvailable}: true, context.DeadlineExceeded: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			var o Occupied
			if !o.refused("a", 0) {
				t.Fatal("it is not asked")
			}
			o.asked(err)
			if time.Sleep(stuckAfter - 1); o.refused("a", 0) {
				t.Errorf("after %v it is asked again at once", err)
			}
			if time.Sleep(time.Nanosecond); o.refused("a", 0) != want {
				t.Errorf("after %v it is asked again: %v", err, !want)
			}
		})
	}
}

func TestSubjectsThatNobodyAsksForAnyMoreAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o Occupied
		for i := range 1000 {
			o.refused(fmt.Sprint(i), stuckAfter)
		}
		time.Sleep(stuckGap + 1)
		if o.refused("a", stuckAfter); len(o.subjects) != 1 {
			t.Errorf("%d are remembered", len(o.subjects))
		}
	})
}

// A change beside the record waits for another one of its key, and for another leader where none is on its way.
func TestAChangeOfABucketWaitsWhileItsKeyIsOccupied(t *testing.T) {
	occupied := &jetstream.APIError{ErrorCode: codeSequenceInQueue}
	conflict := &jetstream.APIError{ErrorCode: codeWrongSequence}
	for name, test := range map[string]struct {
		frees   time.Duration // when the key is free by itself; 0: when there is another leader
		never   bool
		then    error
		deposed int
		took    time.Duration // at most
		want    error
	}{
		"for a moment":           {frees: 30 * time.Millisecond, took: 50 * time.Millisecond},
		"another was first":      {frees: 30 * time.Millisecond, then: conflict, took: 50 * time.Millisecond, want: conflict},
		"until there is another": {deposed: 1, took: stuckAfter + 50*time.Millisecond},
		"for good":               {never: true, deposed: 1, took: patience + 50*time.Millisecond, want: occupied},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, deposed := time.Now(), 0
				var o Occupied
				err := o.change(t.Context(), "s", func() error {
					free := test.frees > 0 && time.Since(began) >= test.frees || test.frees == 0 && deposed > 0
					if test.never || !free {
						return occupied
					}
					return test.then
				}, func() error { deposed++; return nil })
				if took := time.Since(began); !errors.Is(err, test.want) || deposed != test.deposed || took > test.took {
					t.Errorf("%v after %s, deposed %d times", err, took, deposed)
				}
			})
		})
	}
}
