package natslog

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// leader stands for the leader of a stream. Messages of its subject are on their way for it until it has stepped down, or until other messages are stored.
type leader struct {
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
func logAt(t *testing.T, f *leader) *Log {
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
		_ = m.Respond([]byte(`{"success":true}`))
	}
	for subject, do := range map[string]nats.MsgHandler{"s.>": f.answer, "$JS.API.STREAM.LEADER.STEPDOWN.S": down} {
		if _, err := conn.Subscribe(subject, do); err != nil {
			t.Fatal(err)
		}
	}
	l := &Log{opts: Options{Name: "S", stuck: 30 * time.Millisecond}.withDefaults(), conn: conn, closing: make(chan struct{})}
	if _, err := l.leaders.subscribe(conn, "S"); err != nil {
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
		want     error
	}{
		"nothing is on its way":   {deposed: 1},
		"it is stored in time":    {left: 2, conflict: true, want: ledger.ErrConflict},
		"it came to nothing":      {left: 2},
		"nothing, and it changed": {conflict: true, deposed: 1, want: ledger.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			f := &leader{conflict: test.conflict}
			f.stuck.Store(true)
			f.left.Store(test.left)
			l := logAt(t, f)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			at, err := l.put(ctx, "w/task/1", []byte("entry"), 3)
			if !errors.Is(err, test.want) || err == nil && at != 7 {
				t.Errorf("%d, %v; want %v", at, err, test.want)
			}
			if n := f.deposed.Load(); n != test.deposed {
				t.Errorf("it was deposed %d times, want %d", n, test.deposed)
			}
		})
	}
}

func TestALeaderIsNotDeposedAgainAtOnce(t *testing.T) {
	l := &Log{}
	if got := fmt.Sprint(l.mayDepose(), l.mayDepose()); got != "true false" {
		t.Error(got)
	}
	l.deposed = time.Now().Add(-deposeEvery)
	if !l.mayDepose() {
		t.Error("not after a minute")
	}
}
