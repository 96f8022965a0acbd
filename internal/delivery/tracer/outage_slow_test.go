//go:build slow

package tracer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/span"
)

// downSink refuses all spans while it is down.
type downSink struct {
	down atomic.Bool
	has  atomic.Int64 // bytes
}

func (s *downSink) Append(b []byte, _ *span.Span) []byte { return append(b, 'x') }

func (s *downSink) Send(_ context.Context, spans []byte) error {
	if s.down.Load() {
		return errors.New("connection refused")
	}
	s.has.Add(int64(len(spans)))
	return nil
}

// TestACollectorThatIsDownIsLoggedOnceAMinute: and no span is lost.
func TestACollectorThatIsDownIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		sink := &downSink{}
		sink.down.Store(true)
		tr := &Tracer{sink: sink, o: Options{Log: slog.New(slog.NewTextHandler(&out, nil)), Every: DefaultEvery}, room: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); tr.send(ctx) }()
		tr.mu.Lock()
		tr.waiting = encoded{spans: []byte("xyz"), count: 3}
		tr.mu.Unlock()
		time.Sleep(5*time.Minute - time.Second)
		sink.down.Store(false)
		time.Sleep(time.Minute)
		cancel()
		<-done
		if got := out.String(); strings.Count(got, "level=WARN") != 5 || strings.Count(got, "level=INFO") != 1 || strings.Count(got, "\n") != 6 {
			t.Errorf("%s", got)
		}
		if n := sink.has.Load(); n != 3 {
			t.Errorf("the collector has %d bytes", n)
		}
	})
}

// TestATracerGoesOnAfterWhatIsPutAway: it is no damage.
func TestATracerGoesOnAfterWhatIsPutAway(t *testing.T) {
	for _, c := range []struct {
		err    error
		errors int
	}{
		{&ledger.PutAway{Position: 3, Segment: "1-4.segment"}, 0},
		{&ledger.Damaged{Position: 3, Err: errors.New("it is changed")}, 1},
	} {
		var out bytes.Buffer
		tr := &Tracer{o: Options{Log: slog.New(slog.NewTextHandler(&out, nil))}}
		tr.failed(c.err)
		if n := strings.Count(out.String(), "level="); tr.position() != 3 || n != c.errors {
			t.Errorf("%v: it is at position %d, and says\n%s", c.err, tr.position(), out.String())
		}
	}
}

// TestATracerLetsEntriesComeTogether: once it has caught up, it is not woken for each commit.
func TestATracerLetsEntriesComeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &Tracer{fold: span.NewFold(nil), o: Options{Log: slog.New(slog.DiscardHandler)}}
		for _, c := range []struct {
			age, waits time.Duration
		}{{0, gather}, {gather / 2, 0}, {time.Hour, 0}, {-time.Hour, 0}} {
			began := time.Now()
			if err := tr.add(t.Context(), []ledger.Entry{{Position: 1, Time: began.Add(-c.age)}}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != c.waits {
				t.Errorf("after an entry of %v ago it waits for %v", c.age, took)
			}
		}
	})
}
