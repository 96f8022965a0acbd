package natslog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
)

// ErrNotEmpty: the record has entries, and those of another cannot be copied into it.
var ErrNotEmpty = errors.New("natslog: the cluster has a record already: use another cluster, or delete its streams")

// fillingKey is the metadata of a stream that a copy has not filled yet.
const fillingKey = "trapeze-filling"

// beingFilled returns an error, which passes, while a program fills the record.
func beingFilled(ctx context.Context, conn *nats.Conn, o Options) error {
	_, err := conn.RequestWithContext(ctx, o.filling(), nil)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil
	case err == nil:
		return ErrFilling
	}
	return err
}

// answerFilling tells those who open the record that it is being filled, as long as the log is open.
func answerFilling(conn *nats.Conn, o Options) ([]*nats.Subscription, error) {
	s, err := conn.Subscribe(o.filling(), func(m *nats.Msg) { _ = m.Respond(nil) })
	if err == nil {
		err = conn.FlushTimeout(requestTimeout)
	}
	return []*nats.Subscription{s}, err
}

// alone ends the answers of a log that was to fill the record, and has not created its stream. It returns ErrFilled if another program fills it.
func alone(ctx context.Context, conn *nats.Conn, o Options, answers []*nats.Subscription) error {
	for _, s := range answers {
		if err := s.Unsubscribe(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := beingFilled(ctx, conn, o)
	if errors.Is(err, ErrFilling) {
		return ErrFilled
	}
	return err
}

// silence is how long the servers may answer nothing while entries are copied.
const silence = 30 * time.Second

// copyAhead is how many entries are on their way at once while they are copied.
const copyAhead = 128

// Copy fills an empty record with the entries of another ledger as they are, at their positions. next returns the entries that follow, and none at the end.
// A record that was not filled to its end is refused from then on, and its streams have to be deleted. Errors: ErrNotEmpty, ErrInvalid for an entry that does not fit, and those of next.
func (l *Log) Copy(ctx context.Context, next func() ([]ledger.Entry, error)) error {
	if last, err := l.Last(ctx); err != nil || last != 0 {
		return errors.Join(err, ErrNotEmpty)
	}
	if err := l.mark(ctx, true); err != nil {
		return err
	}
	c := copier{log: l, heads: map[ledger.Stream]ledger.Position{}}
	for {
		entries, err := next()
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			if err := c.send(ctx, e); err != nil {
				return err
			}
		}
	}
	if err := c.settle(ctx, 0); err != nil {
		return err
	}
	l.health.reached(c.last)
	l.heard(c.last)
	return l.mark(ctx, false)
}

// mark notes that the stream is being filled, or that it was.
func (l *Log) mark(ctx context.Context, filling bool) error {
	return WhenReady(ctx, 0, func(ctx context.Context) error {
		s, err := l.js.Stream(ctx, l.opts.Name)
		if err != nil {
			return err
		}
		c := s.CachedInfo().Config
		c.Metadata = maps.Clone(c.Metadata)
		delete(c.Metadata, fillingKey)
		if filling {
			c.Metadata[fillingKey] = "yes"
		}
		_, err = l.js.UpdateStream(ctx, c)
		return err
	})
}

// copier sends entries one after the other, some ahead of their answers.
type copier struct {
	log   *Log
	heads map[ledger.Stream]ledger.Position
	last  ledger.Position
	sent  []jetstream.PubAckFuture // of the positions up to last
}

func (c *copier) send(ctx context.Context, e ledger.Entry) error {
	if e.Enc == ledger.EncSealed {
		return fmt.Errorf("%w: the content of entry %d can be erased, which goes with a data directory alone", ledger.ErrInvalid, e.Position)
	}
	if e.Position != c.last+1 {
		return fmt.Errorf("%w: position %d does not follow %d", ledger.ErrInvalid, e.Position, c.last)
	}
	head := c.heads[e.Stream]
	expect := head
	if e.Version == 0 {
		expect = ledger.Any
	}
	stored, sum, _, err := frame.AppendEntry(nil, &e, expect)
	if err != nil {
		return err
	}
	if err := frame.Seal(stored, sum, 0, head, 0); err != nil {
		return fmt.Errorf("entry %d: %w", e.Position, err)
	}
	m := &nats.Msg{Subject: subjectOf(c.log.opts.subjects(), e.Stream), Data: stored, Header: nats.Header{
		headerNonce: {nuid.Next()}, headerExpect: {strconv.FormatUint(uint64(head), 10)},
	}}
	ack, err := c.log.js.PublishMsgAsync(m)
	if err != nil {
		return unavailable(err)
	}
	c.sent = append(c.sent, ack)
	c.last, c.heads[e.Stream] = e.Position, e.Position
	return c.settle(ctx, copyAhead)
}

// settle waits until so many entries are on their way at most.
func (c *copier) settle(ctx context.Context, ahead int) error {
	for len(c.sent) > ahead {
		want := c.last - ledger.Position(len(c.sent)) + 1
		select {
		case ack := <-c.sent[0].Ok():
			if ledger.Position(ack.Sequence) != want {
				return fmt.Errorf("natslog: entry %d got the position %d: something else writes to the stream", want, ack.Sequence)
			}
		case err := <-c.sent[0].Err():
			return fmt.Errorf("natslog: entry %d: %w", want, unavailable(err))
		case <-time.After(silence):
			return fmt.Errorf("natslog: entry %d: %w: there is no answer for %v, so a majority of the nodes is gone, and the restore has to begin again", want, errNoAnswer, silence)
		case <-ctx.Done():
			return ctx.Err()
		}
		c.sent = c.sent[1:]
	}
	return nil
}
