package natslog

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/tail"
)

// Log is one front end of a ledger in JetStream. It is safe for concurrent use.
type Log struct {
	opts     Options
	conn     *nats.Conn
	js       jetstream.JetStream
	id       string
	tail     *tail.Tail
	health   health
	lease    lease
	leaders  elections
	occupied Occupied
	replies  replies
	riders   riders

	self      string // the name of this front end in what it tells the others
	outbox    outbox
	news      news
	announced atomic.Uint64 // up to where the record goes, as front ends say
	woken     chan struct{}

	mu      sync.Mutex
	lanes   map[ledger.Stream]*lane
	appends sync.WaitGroup // in progress
	ending  bool           // none begins any more

	end     context.CancelFunc // of the listener
	closing chan struct{}      // closed when Close begins
	running sync.WaitGroup
	subs    []*nats.Subscription

	lose atomic.Bool // the next answer to an append: for tests
}

var _ ledger.Ledger = (*Log)(nil)

// Open opens the record in the JetStream cluster of a connection, and creates its stream if there is none. The connection needs
// [ConnectOptions], and stays open when the log is closed. A stream or servers in which entries would not be safe are refused.
func Open(ctx context.Context, conn *nats.Conn, opts Options) (_ *Log, err error) {
	opts = opts.withDefaults()
	if err := opts.check(); err != nil {
		return nil, err
	}
	if most := conn.MaxPayload(); most < MaxPayload {
		return nil, fmt.Errorf("natslog: the NATS server takes messages of up to %d bytes, and entries need %d: set max_payload: %[2]d in its configuration, and in that of the others", most, MaxPayload)
	}
	if err := checkSync(ctx, opts); err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	var subs []*nats.Subscription
	defer func() {
		if err != nil {
			unsubscribe(subs)
		}
	}()
	if opts.Filling {
		if subs, err = answerFilling(conn, opts); err != nil {
			return nil, err
		}
	}
	info, created, err := create(ctx, js, opts)
	if err == nil && opts.Filling && !created {
		err = alone(ctx, conn, opts, subs)
		subs = nil
	}
	if err != nil {
		return nil, err
	}
	if err := checkStream(&info.Config, opts.Unsafe); err != nil {
		return nil, err
	}
	l := &Log{
		opts: opts, conn: conn, js: js, id: info.Config.Metadata[idKey], lanes: map[ledger.Stream]*lane{},
		self: nuid.Next(), outbox: outbox{filled: make(chan struct{}, 1)}, woken: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	elected, err := l.leaders.subscribe(conn, opts.Name)
	if err != nil {
		return nil, err
	}
	subs = append(subs, elected)
	answered, err := l.replies.subscribe(conn)
	if err != nil {
		return nil, err
	}
	subs = append(subs, answered)
	l.health.known = opts.Acknowledged
	last, err := l.firstEnd(ctx)
	if err != nil {
		return nil, err
	}
	if last < opts.Acknowledged {
		l.health.doubts(lost(last, opts.Acknowledged))
	}
	l.health.reached(last)
	l.tail = tail.New(last)
	announced, err := l.subscribe()
	if err != nil {
		return nil, err
	}
	subs = append(subs, announced)
	l.subs = subs
	ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	l.running.Go(func() { l.listen(ctx) })
	l.running.Go(func() { l.tell(ctx) })
	return l, nil
}

// firstEnd returns the position of the last entry, when the stream has a leader.
func (l *Log) firstEnd(ctx context.Context) (last ledger.Position, err error) {
	err = WhenReady(ctx, l.opts.Starting, func(ctx context.Context) (err error) {
		last, err = l.endOf(ctx, everything)
		return err
	})
	if err != nil {
		err = unavailable(err)
	}
	return last, err
}

// ID returns the name of the record, which it was given when its stream was created.
func (l *Log) ID() string { return l.id }

// Name returns the name of the JetStream stream.
func (l *Log) Name() string { return l.opts.Name }

// Acknowledged tells the log of a position up to which entries are known to have been appended, as does that of [Options].
func (l *Log) Acknowledged(p ledger.Position) {
	l.health.reached(p)
	if end := l.tail.Position(); end < p {
		l.heard(p) // the next look tells whether they are lost
	}
}

// Follow implements [ledger.Ledger]. It goes on after the connection was lost.
func (l *Log) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	return l.tail.Follow(ctx, after, tail.Source{Read: l.Read, Closing: l.closing, Closed: errClosed, Batch: followBatch, Retry: retryAfter}, fn)
}

// Err implements [ledger.Ledger].
func (l *Log) Err() error {
	if l.isClosing() {
		return errClosed
	}
	return l.health.err()
}

// Close implements [ledger.Ledger]. It waits for appends in progress.
func (l *Log) Close() error {
	l.mu.Lock()
	first := !l.ending
	if l.ending = true; first {
		close(l.closing)
	}
	l.mu.Unlock()
	if !first {
		return nil
	}
	l.appends.Wait()
	l.end()
	l.running.Wait()
	unsubscribe(l.subs)
	return nil
}

func unsubscribe(subs []*nats.Subscription) {
	for _, s := range subs {
		_ = s.Unsubscribe() // the connection may be closed
	}
}

// begin begins an append, unless the log is closed.
func (l *Log) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ending {
		l.appends.Add(1)
	}
	return !l.ending
}

func (l *Log) isClosing() bool {
	select {
	case <-l.closing:
		return true
	default:
		return false
	}
}
