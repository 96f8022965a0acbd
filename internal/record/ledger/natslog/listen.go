package natslog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/pace"
)

// announce tells the listeners of all front ends up to where the record goes. What is lost is found by looking.
func (l *Log) announce(at ledger.Position) {
	_ = l.conn.Publish(l.opts.wake(), strconv.AppendUint(nil, uint64(at), 10))
	l.heard(at)
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

// subscribe listens to the front ends.
func (l *Log) subscribe() (*nats.Subscription, error) {
	return l.conn.Subscribe(l.opts.wake(), func(m *nats.Msg) {
		if at, err := strconv.ParseUint(string(m.Data), 10, 64); err == nil && !l.opts.deaf {
			l.heard(ledger.Position(at))
		}
	})
}

// listen hands what any front end appends to the followers, until the log is closed.
func (l *Log) listen(ctx context.Context) {
	tick := time.NewTicker(l.opts.Poll)
	defer tick.Stop()
	for looks := 0; ctx.Err() == nil; {
		before := l.tail.Position()
		if err := l.catchUp(ctx); err != nil && ctx.Err() == nil {
			l.health.failed(err)
			l.pause(ctx)
		}
		l.pauseFor(ctx, pace.After(int(l.tail.Position()-before))) //nolint:gosec // a count of entries
		select {
		case <-ctx.Done():
		case <-l.woken:
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

// catchUp reads what a replica has, and goes on until it has what was announced. A replica may be some milliseconds late.
func (l *Log) catchUp(ctx context.Context) error {
	for late := time.Millisecond; ctx.Err() == nil; {
		position := l.tail.Position()
		entries, size, err := l.readAfter(ctx, position, listenBatch)
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
