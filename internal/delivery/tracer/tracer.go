package tracer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/span"
	"github.com/trapezehq/trapeze/internal/record/span/outage"
)

// pause is the time after an error before it is tried again.
const pause = time.Second

// last is the time for the last spans when the tracer stops.
const last = 3 * time.Second

// batch is the number of spans that are sent as soon as they are there: some 500 KB. A message costs the server and the collector as much as
// the spans of some hundred steps.
const batch = 2048

// maxWaiting is the number of spans that wait in memory, besides those of one batch of entries.
const maxWaiting = 4 * batch

// maxSpare is the number of buffers that are kept for the next batches.
const maxSpare = 2

// gather is how long the tracer lets entries come together after a few. To be woken for each commit would cost as much as to make the spans.
const gather = 50 * time.Millisecond

// DefaultEvery is the default of [Options.Every].
const DefaultEvery = 2 * time.Second

// Sink takes spans.
type Sink interface {
	// Append appends a span to b in the form that Send takes, unless its trace is not sampled. It does not keep s.
	Append(b []byte, s *span.Span) []byte
	// Send sends spans that Append has appended. Of an error, none of them counts as sent.
	Send(ctx context.Context, spans []byte) error
}

// encoded is spans as the sink takes them. To keep them as they are would be more work for the garbage collector.
type encoded struct {
	spans []byte
	count int
}

// Options of a Tracer.
type Options struct {
	// Path is the file that keeps how far the spans have been sent.
	Path string
	Log  *slog.Logger // nil means slog.Default
	// Every is the longest time that spans wait for others, to be sent together; 0 means [DefaultEvery].
	Every time.Duration
}

// Tracer sends the spans of one ledger. Run it once.
type Tracer struct {
	ledger ledger.Ledger
	sink   Sink
	fold   *span.Fold
	o      Options

	mu      sync.Mutex
	waiting encoded
	sending []encoded       // taken from those that wait, and not sent yet
	spare   [][]byte        // buffers that were sent
	at      ledger.Position // of the newest entry whose spans wait or were sent
	sent    ledger.Position // of the newest entry whose spans were sent
	saved   ledger.Position // as the file has it
	noted   time.Time       // when the file was written
	enough  chan struct{}   // there is a batch
	room    chan struct{}   // those that waited were sent
}

// Open returns a tracer of a ledger that goes on where the last one ended, or, without one, at the end of the ledger.
func Open(ctx context.Context, l ledger.Ledger, sink Sink, o Options) (*Tracer, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Every <= 0 {
		o.Every = DefaultEvery
	}
	t := &Tracer{ledger: l, sink: sink, fold: span.NewFold(l.Stream), o: o, enough: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	end, err := l.Last(ctx)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(o.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	n, parsed := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
	if err == nil && parsed == nil && ledger.Position(n) <= end { // otherwise the ledger is another than that which was traced
		t.at = ledger.Position(n)
		t.sent, t.saved = t.at, t.at
		return t, nil
	}
	t.at, t.sent = end, end
	err = t.save(end)
	return t, err
}

// save notes how far the spans have been sent.
func (t *Tracer) save(at ledger.Position) error {
	next := t.o.Path + ".new"
	if err := os.WriteFile(next, fmt.Appendln(nil, at), 0o600); err != nil {
		return err
	}
	if err := os.Rename(next, t.o.Path); err != nil {
		return err
	}
	t.saved, t.noted = at, time.Now()
	return nil
}

// Run sends the spans of every entry until ctx ends, and then those of the entries that are left, as far as a short time allows.
func (t *Tracer) Run(ctx context.Context) {
	var sending sync.WaitGroup
	sending.Go(func() { t.send(ctx) })
	for ctx.Err() == nil {
		err := t.ledger.Follow(ctx, t.position(), func(entries []ledger.Entry) error { return t.add(ctx, entries) })
		if ctx.Err() == nil {
			t.failed(err)
			wait(ctx, pause)
		}
	}
	sending.Wait()
	if err := errors.Join(t.finish(context.WithoutCancel(ctx)), t.note(0)); err != nil {
		t.o.Log.Warn("the last spans could not be sent: they will be after the next start", "error", err)
	}
}

// failed reports that the ledger could not be followed. A damaged entry is left out, and so is one that was put away.
func (t *Tracer) failed(err error) {
	var damaged *ledger.Damaged
	if !errors.As(err, &damaged) || damaged.Position <= t.position() {
		t.o.Log.Warn("the traces go on where they were", "position", t.position(), "error", err)
		return
	}
	if _, away := ledger.AsPutAway(err); !away { // that is told when the server starts
		t.o.Log.Error("a damaged entry is in no trace", "position", damaged.Position, "error", err)
	}
	t.mu.Lock()
	t.at = damaged.Position
	t.mu.Unlock()
}

// finish sends the spans of the entries that are left.
func (t *Tracer) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, last)
	defer cancel()
	for {
		if err := t.flush(ctx); err != nil {
			return err
		}
		list, err := ledger.Page(ctx, t.ledger, t.position(), batch)
		if err != nil || len(list) == 0 {
			return err
		}
		for i := range list {
			if _, err := t.one(ctx, &list[i]); err != nil {
				return err
			}
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (t *Tracer) position() ledger.Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at
}

// add makes the spans of entries. It waits while too many wait to be sent.
func (t *Tracer) add(ctx context.Context, entries []ledger.Entry) error {
	for i := range entries {
		n, err := t.one(ctx, &entries[i])
		if err != nil {
			return err
		}
		if n >= batch {
			signal(t.enough)
		}
		for n >= maxWaiting {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-t.room:
			}
			t.mu.Lock()
			n = t.count()
			t.mu.Unlock()
		}
	}
	if n := len(entries); n > 0 {
		if age := time.Since(entries[n-1].Time); age >= 0 && age < gather/2 { // it has caught up
			wait(ctx, gather)
		}
	}
	return nil
}

// one makes the spans of one entry, and returns how many wait.
func (t *Tracer) one(ctx context.Context, e *ledger.Entry) (waiting int, err error) {
	spans, err := t.fold.Add(ctx, e)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case errors.Is(err, ledger.ErrUnavailable):
		return 0, err
	case err != nil:
		t.o.Log.Error("an entry is in no trace: it, or one before it of its task, cannot be decoded", "position", e.Position, "error", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range spans {
		before := len(t.waiting.spans)
		if t.waiting.spans = t.sink.Append(t.waiting.spans, &spans[i]); len(t.waiting.spans) > before {
			t.waiting.count++
		}
	}
	t.at = e.Position
	if t.waiting.count >= batch {
		t.take()
	}
	return t.count(), nil
}

// take moves the spans that wait to those that are sent next. t.mu is held.
func (t *Tracer) take() {
	if t.waiting.count > 0 {
		t.sending = append(t.sending, t.waiting)
		t.waiting = encoded{}
		if n := len(t.spare); n > 0 {
			t.waiting.spans, t.spare = t.spare[n-1], t.spare[:n-1]
		}
	}
}

// count is the number of spans that are not sent yet. t.mu is held.
func (t *Tracer) count() int {
	n := t.waiting.count
	for _, e := range t.sending {
		n += e.count
	}
	return n
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// send sends the spans that wait, when there are enough or some time has passed, until ctx ends.
func (t *Tracer) send(ctx context.Context) {
	tick := time.NewTicker(t.o.Every)
	defer tick.Stop()
	report := outage.New(t.o.Log, "spans could not be sent, and will be sent again", "spans are sent again")
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-t.enough:
		}
		switch err := t.flush(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			report.Failed(err, 0)
			wait(ctx, pause)
		default:
			report.Sent()
		}
	}
}

// note saves how far the spans have been sent, unless that was done within a time. After a kill, the spans sent since then are sent again,
// with the same ids.
func (t *Tracer) note(within time.Duration) error {
	if t.saved == t.sent || time.Since(t.noted) < within {
		return nil
	}
	return t.save(t.sent)
}

// flush sends the spans that wait.
func (t *Tracer) flush(ctx context.Context) error {
	t.mu.Lock()
	t.take()
	sending, at := t.sending, t.at
	t.mu.Unlock()
	for _, e := range sending {
		if err := t.sink.Send(ctx, e.spans); err != nil {
			return err
		}
		t.mu.Lock()
		t.sending[0] = encoded{} // for the garbage collector
		t.sending = t.sending[1:]
		if len(t.spare) < maxSpare {
			t.spare = append(t.spare, e.spans[:0])
		}
		t.mu.Unlock()
		signal(t.room)
	}
	t.sent = at
	return t.note(t.o.Every)
}
