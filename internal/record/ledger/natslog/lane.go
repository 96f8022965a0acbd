package natslog

import (
	"context"
	"errors"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
)

// lane is the end of a stream that is written without an expected position, as far as this front end knows. One append at a time uses it.
type lane struct {
	turn  chan struct{}
	users int
	known bool
	end   ledger.Position
	at    time.Time // of the last entry
}

// maxLanes is the number of lanes that are remembered while nobody uses them.
const maxLanes = 1024

// enter waits for the lane of a stream.
func (l *Log) enter(ctx context.Context, s ledger.Stream) (*lane, error) {
	l.mu.Lock()
	n := l.lanes[s]
	if n == nil {
		for of, idle := range l.lanes {
			if len(l.lanes) < maxLanes {
				break
			}
			if idle.users == 0 {
				delete(l.lanes, of)
			}
		}
		n = &lane{turn: make(chan struct{}, 1)}
		l.lanes[s] = n
	}
	n.users++
	l.mu.Unlock()
	select {
	case n.turn <- struct{}{}:
		return n, nil
	case <-ctx.Done():
		l.mu.Lock()
		n.users--
		l.mu.Unlock()
		return nil, unknown(ctx.Err())
	}
}

func (l *Log) leave(n *lane) {
	<-n.turn
	l.mu.Lock()
	n.users--
	l.mu.Unlock()
}

// appendAny appends an entry that expects nothing: it expects the end of its stream, whatever that is, and is not before it in time.
func (l *Log) appendAny(ctx context.Context, e ledger.Entry) (ledger.Position, error) {
	n, err := l.enter(ctx, e.Stream)
	if err != nil {
		return 0, err
	}
	defer l.leave(n)
	for end := time.Now().Add(patience); ; {
		if !n.known {
			if err := l.find(ctx, e.Stream, n); err != nil {
				return 0, err
			}
		}
		timed := e
		if timed.Time.Before(n.at) {
			timed.Time = n.at
		}
		stored, sum, _, err := frame.AppendEntry(nil, &timed, ledger.Any)
		if err != nil {
			return 0, err
		}
		at, err := l.put(ctx, &timed, stored, sum, n.end)
		if err == nil {
			n.end, n.at = at, timed.Time
			return at, nil
		}
		n.known = false
		if !errors.Is(err, ledger.ErrConflict) || time.Now().After(end) {
			return 0, err
		}
	}
}

// find reads the end of a stream.
func (l *Log) find(ctx context.Context, s ledger.Stream, n *lane) error {
	err := l.try(ctx, func() error {
		m, ok, err := l.fromLeader(ctx, getRequest{LastFor: subjectOf(l.opts.subjects(), s)})
		if err != nil {
			return err
		}
		n.known, n.end, n.at = true, 0, time.Time{}
		if ok {
			n.end = m.seq
			if f, err := frame.Open(m.body, 0); err == nil { // a damaged entry does not stop the record of reads
				if e, err := ledger.Decode(f.Bytes); err == nil {
					n.at = e.Time
				}
			}
		}
		return nil
	})
	if ctx.Err() != nil {
		return unknown(ctx.Err())
	}
	return err
}
