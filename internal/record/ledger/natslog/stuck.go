package natslog

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A leader remembers which subjects have a message on its way, and refuses any other for them until that is stored. It can forget to forget: nothing is on its way
// then, and the subject takes no message until there is another leader. So one that says so for long is asked to step down.

const (
	stuckAfter  = 4 * time.Second       // much longer than a message is on its way
	stuckGap    = 2 * requestTimeout    // after so long without a refusal it is another message that is on its way
	deposeEvery = 15 * time.Second      // at most: an election takes some, and the next leader may only be slow
	queuedRetry = 10 * time.Millisecond // until what is on its way is stored, or not
)

// Occupied remembers for which subjects of a stream the leader says that a message is on its way. The zero value is ready.
type Occupied struct {
	mu       sync.Mutex
	subjects map[string]span
	swept    time.Time // when old ones were last dropped
	deposed  time.Time // when a leader was last asked to step down
}

// span is from the first to the last refusal of those that follow each other.
type span struct{ first, last time.Time }

// refused notes a refusal, and reports whether the leader is to step down, as it has refused the subject for long.
func (o *Occupied) refused(subject string, after time.Duration) (stuck bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if now.Sub(o.swept) > stuckGap { // many calls end without a later answer
		maps.DeleteFunc(o.subjects, func(_ string, s span) bool { return now.Sub(s.last) > stuckGap })
		o.swept = now
	}
	s := o.subjects[subject]
	if now.Sub(s.last) > stuckGap {
		s.first = now
	}
	s.last = now
	if o.subjects == nil {
		o.subjects = map[string]span{}
	}
	o.subjects[subject] = s
	if now.Sub(s.first) < after || !o.deposed.IsZero() && now.Sub(o.deposed) < deposeEvery {
		return false
	}
	o.deposed = now
	return true
}

// asked notes what came of a request to step down. If no leader was there to hear it, the next one is asked when it has refused a subject for as long.
func (o *Occupied) asked(err error) {
	if err == nil || !passing(err) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deposed = time.Now().Add(stuckAfter - deposeEvery)
}

// answered notes any other answer.
func (o *Occupied) answered(subject string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.subjects, subject)
}

// Change calls fn, which changes a message with a subject of a stream beside the record, and again for [patience] at most while the leader refuses it because another
// one is on its way.
func (o *Occupied) Change(ctx context.Context, conn *nats.Conn, log *slog.Logger, stream, subject string, fn func() error) error {
	return o.change(ctx, subject, fn, func() error {
		within, end := context.WithTimeout(ctx, requestTimeout)
		defer end()
		reply, err := conn.RequestWithContext(within, stepDown(stream), nil)
		if err != nil {
			reply = &nats.Msg{}
		}
		return askedToStepDown(ctx, log, subject, reply.Data, err)
	})
}

func (o *Occupied) change(ctx context.Context, subject string, fn, depose func() error) error {
	for began := time.Now(); ; {
		err := fn()
		e, ok := errors.AsType[*jetstream.APIError](err)
		if !ok || e.ErrorCode != codeSequenceInQueue {
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
				o.answered(subject)
			}
			return err
		}
		if o.refused(subject, stuckAfter) {
			o.asked(depose())
		}
		if time.Since(began) >= patience {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(queuedRetry):
		}
	}
}

// stepDown is the subject of requests to the leader of a stream that another is to lead.
func stepDown(stream string) string { return "$JS.API.STREAM.LEADER.STEPDOWN." + stream }

// askedToStepDown logs that a leader was, and why it does not: an account may lack the right to ask.
func askedToStepDown(ctx context.Context, log *slog.Logger, subject string, reply []byte, err error) error {
	var answer struct {
		Error *apiError `json:"error"`
	}
	if err == nil {
		err = json.Unmarshal(reply, &answer)
	}
	if err == nil && answer.Error != nil {
		err = answer.Error
	}
	if log == nil {
		log = slog.Default()
	}
	attrs := []any{"subject", subject}
	if err != nil {
		attrs = append(attrs, "error", err)
	}
	log.WarnContext(ctx, "a leader of JetStream says for long that a message is on its way, and was asked to step down", attrs...)
	return err
}

// onItsWay notes that the leader has refused an entry because another one of its stream is on its way.
func (l *Log) onItsWay(ctx context.Context, subject string) {
	after := l.opts.stuck
	if after == 0 {
		after = stuckAfter
	}
	if l.occupied.refused(subject, after) {
		b, err := l.send(ctx, &nats.Msg{Subject: stepDown(l.opts.Name)})
		l.occupied.asked(askedToStepDown(ctx, l.opts.Log, subject, b, err))
	}
}
