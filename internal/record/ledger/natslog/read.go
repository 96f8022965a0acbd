package natslog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
)

// maxPosition is the greatest that is asked for: JetStream's header has no number beyond 2⁶³-1.
const maxPosition = ledger.Position(1)<<62 - 1

// everything matches all subjects. nats-server has the last message of all at hand; for any other pattern it looks at each subject of the stream, of which each task is one.
const everything = ">"

// Stream implements [ledger.Ledger].
func (l *Log) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) (entries []ledger.Entry, err error) {
	if err := checkLimit(limit); err != nil {
		return nil, err
	}
	if err := ledger.CheckStream(s); err != nil {
		return nil, err
	}
	pattern := subjectOf(l.opts.subjects(), s)
	err = l.try(ctx, func() error {
		end, err := l.endOf(ctx, pattern)
		if err == nil {
			entries, err = l.between(ctx, s, after, end, limit)
		}
		return err
	})
	return entries, err
}

// Last implements [ledger.Ledger]. While there are many appends it is the position of one that began after the call, and costs nothing: see riders.
func (l *Log) Last(ctx context.Context) (last ledger.Position, err error) {
	if last, ok := l.riders.ride(ctx); ok {
		return last, nil
	}
	err = l.try(ctx, func() (err error) {
		last, err = l.endOf(ctx, everything)
		return err
	})
	return last, err
}

// endOf returns the position of the last message with a subject that matches a pattern, 0 for none, from a leader that was the leader then.
func (l *Log) endOf(ctx context.Context, pattern string) (ledger.Position, error) {
	m, _, err := l.fromLeader(ctx, getRequest{LastFor: pattern})
	if err != nil {
		return 0, err
	}
	return m.seq, l.lease.check(ctx, l)
}

// between returns the entries of a stream after a position, up to its end, from a replica, and what that lacks from the leader.
func (l *Log) between(ctx context.Context, s ledger.Stream, after, end ledger.Position, limit int) (entries []ledger.Entry, err error) {
	c := chain{stream: s, subject: subjectOf(l.opts.subjects(), s), last: after}
	for len(entries) < limit && c.last < end {
		n := 0
		err := l.fromReplica(ctx, getRequest{Seq: c.last + 1, NextFor: c.subject, Batch: min(limit-len(entries), readBatch)}, func(m message) bool {
			e, err := c.next(m)
			if err != nil || m.seq > end {
				return false
			}
			entries, n = append(entries, e), n+1
			return len(entries) < limit
		})
		if err != nil {
			return entries, err
		}
		if n > 0 {
			continue
		}
		e, err := l.next(ctx, &c, getRequest{Seq: c.last + 1, NextFor: c.subject}, end)
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// next returns the next entry of a chain from the leader, which must have one.
func (l *Log) next(ctx context.Context, c *chain, r getRequest, missing ledger.Position) (ledger.Entry, error) {
	return c.nextOf(func(r getRequest) (message, bool, error) { return l.fromLeader(ctx, r) }, r, missing)
}

// nextOf returns the next entry of a leader. What that has damaged is damage, and what it lacks, if it has what comes later, or what is another's in its place. Both must be one answer, as each may come
// from another leader: one of before, or one that does not have everything yet, is asked again.
func (c *chain) nextOf(leader func(getRequest) (message, bool, error), r getRequest, missing ledger.Position) (ledger.Entry, error) {
	m, ok, err := leader(r)
	switch {
	case err != nil:
		return ledger.Entry{}, err
	case ok:
		return c.next(m)
	}
	m, ok, err = leader(getRequest{Seq: missing, NextFor: everything})
	switch {
	case err != nil:
		return ledger.Entry{}, err
	case !ok, m.seq <= missing && (c.stream == "" || m.subject == c.subject):
		return ledger.Entry{}, fmt.Errorf("%w: the leader did not have entry %d yet", errNoAnswer, missing)
	}
	return ledger.Entry{}, &ledger.Damaged{Position: missing, Err: errMissing}
}

// Read implements [ledger.Ledger]. It may lag behind by what the replica that answers lacks.
func (l *Log) Read(ctx context.Context, after ledger.Position, limit int) (entries []ledger.Entry, err error) {
	if err := checkLimit(limit); err != nil {
		return nil, err
	}
	err = l.try(ctx, func() (err error) {
		entries, _, err = l.readAfter(ctx, after, limit)
		return err
	})
	return entries, err
}

// readAfter reads entries of all streams after a position, and returns their size in bytes as they are stored.
func (l *Log) readAfter(ctx context.Context, after ledger.Position, limit int) (entries []ledger.Entry, size int, err error) {
	c := chain{last: after, subject: l.opts.subjects()}
	for len(entries) < limit && c.last <= maxPosition {
		n, reply, bad := 0, 0, false
		batch := min(limit-len(entries), readBatch)
		err := l.fromReplica(ctx, getRequest{Seq: c.last + 1, Batch: batch}, func(m message) bool {
			e, err := c.next(m)
			if bad = err != nil; bad {
				return false
			}
			entries, reply, n = append(entries, e), reply+len(m.body), n+1
			return true
		})
		size += reply
		switch {
		case err != nil:
			return entries, size, err
		case !bad && n < batch && reply < readBytes/2: // this replica has no more
			return entries, size, nil
		case !bad:
			continue
		}
		e, err := l.next(ctx, &c, getRequest{Seq: c.last + 1}, c.last+1)
		if err != nil {
			return entries, size, err
		}
		entries = append(entries, e)
	}
	return entries, size, nil
}

// chain is what a read knows of the entries before the next one, so that it notices those that are missing.
type chain struct {
	stream  ledger.Stream // empty: of all streams, whose positions have no gaps
	subject string        // of the stream, or what all subjects begin with; empty: what is read has none
	last    ledger.Position
}

// next returns the entry of the next message, and moves the chain to it. Its error is a [ledger.Damaged], which moves nothing.
func (c *chain) next(m message) (ledger.Entry, error) {
	damaged := func(at ledger.Position, err error) (ledger.Entry, error) {
		return ledger.Entry{}, &ledger.Damaged{Position: at, Err: err}
	}
	if c.stream == "" && m.seq != c.last+1 {
		return damaged(c.last+1, errMissing)
	}
	f, err := frame.Open(m.body, 0)
	if err != nil {
		return damaged(m.seq, err)
	}
	e, err := ledger.Decode(f.Bytes)
	switch {
	case err != nil:
		return damaged(m.seq, err)
	case !f.Indexed:
		return damaged(m.seq, fmt.Errorf("%w: it is not stored as a frame of this ledger", ledger.ErrInvalid))
	case c.stream != "" && f.Previous > c.last:
		return damaged(f.Previous, errMissing)
	case c.stream != "" && e.Stream != c.stream, c.stream == "" && c.subject != "" && subjectOf(c.subject, e.Stream) != m.subject:
		return damaged(m.seq, fmt.Errorf("%w: it belongs to the stream %s, and has the subject %s", ledger.ErrInvalid, e.Stream, m.subject))
	}
	e.Position, c.last = m.seq, m.seq
	return e, nil
}

// try calls fn, and again while its error may pass, for [patience] at most. Its errors are those of the ledger.
func (l *Log) try(ctx context.Context, fn func() error) error {
	for end := time.Now().Add(l.health.tries()); ; l.pause(ctx) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.isClosing() {
			return errClosed
		}
		err := fn()
		_, damaged := errors.AsType[*ledger.Damaged](err)
		switch {
		case err == nil || damaged:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case l.isClosing():
			return errClosed
		case !passing(err) || time.Now().After(end):
			return unavailable(err)
		}
	}
}

func checkLimit(limit int) error {
	if limit < 1 {
		return fmt.Errorf("%w: limit %d, want 1 or more", ledger.ErrInvalid, limit)
	}
	return nil
}
