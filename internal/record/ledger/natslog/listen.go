package natslog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/pace"
)

// announce tells the listeners of all front ends of an entry that was appended. What is lost is found by looking.
func (l *Log) announce(t told) {
	if len(t.frame) > newsFrame {
		t = told{at: t.at}
	}
	l.news.add(t)
	l.heard(t.at)
	l.outbox.add(t)
}

// tell tells the other front ends what this one has appended, until the log is closed: while there is much, in fewer and larger messages.
func (l *Log) tell(ctx context.Context) {
	b := append(append([]byte{newsFormat}, l.self...), '\n')
	begin := len(b)
	for ctx.Err() == nil {
		select {
		case <-l.outbox.filled:
		case <-ctx.Done(): // no append is in progress any more
		}
		list := l.outbox.take()
		for i, t := range list {
			if b = appendNews(b, t); len(b) > newsMessage || i == len(list)-1 {
				_ = l.conn.Publish(l.opts.wake(), b) // which copies it
				b = b[:begin]
			}
		}
		l.pauseFor(ctx, pace.After(len(list)))
	}
}

// heard wakes the listener of this front end.
func (l *Log) heard(at ledger.Position) {
	for {
		old := l.announced.Load()
		if uint64(at) <= old {
			return
		}
		if l.announced.CompareAndSwap(old, uint64(at)) {
			break
		}
	}
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// subscribe listens to the other front ends.
func (l *Log) subscribe() (*nats.Subscription, error) {
	return l.conn.Subscribe(l.opts.wake(), func(m *nats.Msg) {
		if l.opts.deaf {
			return
		}
		var last ledger.Position
		readNews(m.Data, l.self, func(t told) {
			l.news.add(t)
			last = max(last, t.at)
		})
		l.heard(last)
	})
}

// listen hands what any front end appends to the followers, until the log is closed.
func (l *Log) listen(ctx context.Context) {
	tick := time.NewTicker(l.opts.Poll)
	defer tick.Stop()
	for looks, read := 0, true; ctx.Err() == nil; {
		before := l.tail.Position()
		if err := l.catchUp(ctx, read); err != nil && ctx.Err() == nil {
			l.health.failed(err)
			l.pause(ctx)
		}
		l.pauseFor(ctx, pace.After(int(l.tail.Position()-before))) //nolint:gosec // a count of entries
		read = true
		select {
		case <-ctx.Done():
		case <-l.woken:
			read = false
		case <-l.leaders.told:
			l.pause(ctx) // it is told before the new leader answers
			l.look(ctx)
		case <-tick.C:
			if looks++; looks%2 == 0 || l.health.isInDoubt() {
				l.look(ctx)
			}
		}
	}
}

// catchUp hands what was told, and what has to be read, to the followers, and goes on until they have what was announced. A replica may be some milliseconds late. read: a replica is asked
// in any case.
func (l *Log) catchUp(ctx context.Context, read bool) error {
	for late := time.Millisecond; ctx.Err() == nil; {
		position := l.tail.Position()
		entries, size := l.told(ctx, position)
		var err error
		if len(entries) == 0 && (read || uint64(position) < l.announced.Load()) {
			entries, size, err = l.readAfter(ctx, position, l.news.missing(position, listenBatch))
			read = false
		}
		if len(entries) > 0 {
			for i := range entries {
				l.opts.Prepare(&entries[i])
			}
			l.tail.Add(entries, size)
			l.health.reached(l.tail.Position())
		}
		if d, ok := errors.AsType[*ledger.Damaged](err); ok {
			l.tail.Skip(max(d.Position, l.tail.Position())) // followers find it when they read
		} else if err != nil {
			return err
		}
		switch {
		case l.tail.Position() > position:
			late = time.Millisecond
		case uint64(position) >= l.announced.Load() || late > time.Second:
			return nil
		default:
			select {
			case <-time.After(late):
			case <-ctx.Done():
			}
			late *= 2
		}
	}
	return nil
}

// newsLate is how long an entry that is announced, or comes before one that is, is waited for before it is read from a replica: front ends tell
// what they appended in any order, and not at once while there is much.
const newsLate = 50 * time.Millisecond

// newsBehind is how many entries followers may lack for that: one that is further behind was not there when they were told.
const newsBehind = newsEntries / 2

// told returns the entries after a position as they were told; none: they have to be read.
func (l *Log) told(ctx context.Context, position ledger.Position) (entries []ledger.Entry, size int) {
	c := chain{last: position}
	late := time.NewTimer(newsLate)
	defer late.Stop()
	for {
		list, read := l.news.take(position, listenBatch)
		if end := ledger.Position(l.announced.Load()); read || len(list) > 0 || end <= position || end > position+newsBehind {
			return c.entries(list)
		}
		select {
		case <-l.woken:
		case <-late.C:
			return nil, 0
		case <-ctx.Done():
			return nil, 0
		}
	}
}

// look checks that the stream is the one that was opened, is still safe, has what was acknowledged, and that a majority answers.
func (l *Log) look(ctx context.Context) {
	if err := l.inspect(ctx); ctx.Err() == nil {
		l.health.failed(err)
	}
}

func (l *Log) inspect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*requestTimeout)
	defer cancel()
	s, err := l.streamInfo(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if s.Config.Metadata[idKey] != l.id {
		l.health.stop(errReplaced)
		return errReplaced
	}
	if err := checkStream(&s.Config, l.opts.Unsafe); err != nil {
		return err
	}
	reached := l.health.reachedUntil()
	end, err := l.endOf(ctx, everything)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	case end < reached:
		err := lost(end, reached)
		l.health.doubts(err)
		return err
	}
	l.health.trusts()
	l.heard(end)
	return nil
}
