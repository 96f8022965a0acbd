package natslog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
)

// Append implements [ledger.Ledger]. While the cluster has no leader it is tried again, for [patience] at most.
func (l *Log) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if err := ctx.Err(); err != nil {
		return 0, unknown(err)
	}
	stored, sum, _, err := frame.AppendEntry(nil, &e, expect)
	if err != nil {
		return 0, err
	}
	if !l.begin() {
		return 0, errClosed
	}
	defer l.appends.Done()
	if err := l.health.refuses(); err != nil {
		return 0, err
	}
	defer ledger.Pause(ctx)()
	start := time.Now()
	var at ledger.Position
	if expect == ledger.Any {
		at, err = l.appendAny(ctx, e)
	} else {
		at, err = l.put(ctx, &e, stored, sum, expect)
	}
	switch {
	case err == nil:
		l.opts.Committed(1, time.Since(start))
		l.health.failed(nil)
	case ctx.Err() == nil && (errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, ledger.ErrUnknown)):
		l.health.failed(err)
	}
	return at, err
}

// put appends an entry with this frame, if its stream ends at a position, and tells the followers of all front ends.
func (l *Log) put(ctx context.Context, e *ledger.Entry, stored []byte, sum uint32, expect ledger.Position) (ledger.Position, error) {
	if err := frame.Seal(stored, sum, 0, expect, 0); err != nil {
		return 0, fmt.Errorf("%w: %s does not end at %d", ledger.ErrConflict, e.Stream, expect)
	}
	at, err := l.putFrame(ctx, e.Stream, stored, expect)
	if err == nil {
		l.announce(told{at, stored, e})
	}
	return at, err
}

// putFrame appends an entry as it is stored. An attempt without an answer is looked up before it is repeated.
func (l *Log) putFrame(ctx context.Context, s ledger.Stream, stored []byte, expect ledger.Position) (ledger.Position, error) {
	m := &nats.Msg{Subject: subjectOf(l.opts.subjects(), s), Data: stored, Header: nats.Header{
		headerNonce: {nuid.Next()}, headerExpect: {strconv.FormatUint(uint64(expect), 10)},
	}}
	end := time.Now().Add(l.health.tries())
	sent := false // so that the entry may be stored, or may still be
	for {
		at, err := l.publish(ctx, m)
		if err == nil || IsConflict(codeOf(err)) && codeOf(err) != codeSequenceInQueue {
			l.occupied.answered(m.Subject)
		}
		if err == nil {
			return at, nil
		}
		switch code := codeOf(err); {
		case code == codeSequenceInQueue:
			l.onItsWay(ctx, m.Subject)
		case IsConflict(code) && !sent:
			return 0, fmt.Errorf("%w: %s does not end at %d", ledger.ErrConflict, s, expect)
		case !IsConflict(code) && !neverSent(err):
			sent = true
		}
		if sent && ctx.Err() == nil {
			if at, done, err := l.settle(ctx, m, expect); done {
				return at, err
			}
		}
		switch {
		case ctx.Err() != nil:
			return 0, unknown(ctx.Err())
		case sent && (l.isClosing() || time.Now().After(end)):
			return 0, unknown(fmt.Errorf("%w (%w)", errNoAnswer, err))
		case !sent && (l.isClosing() || time.Now().After(end) || !passing(err)):
			return 0, unavailable(err)
		}
		if codeOf(err) == codeSequenceInQueue && !sent { // otherwise each try asks the leader, too
			l.pauseFor(ctx, queuedRetry)
		} else {
			l.pause(ctx)
		}
	}
}

// publish sends a message once, and returns its sequence.
func (l *Log) publish(ctx context.Context, m *nats.Msg) (at ledger.Position, err error) {
	defer l.riders.board(&at)()
	reached := l.health.reachedUntil()
	b, err := l.send(ctx, m)
	if err == nil && l.lose.CompareAndSwap(true, false) {
		err = nats.ErrTimeout
	}
	if err != nil {
		return 0, err
	}
	if at, err = readAnswer(b, l.opts.Name); err != nil {
		return 0, err
	}
	if at <= reached {
		l.health.stop(lost(at, reached))
		return 0, l.health.refuses()
	}
	l.health.reached(at)
	return at, nil
}

// readAnswer returns the sequence of the message that an answer says is stored in a stream.
func readAnswer(b []byte, stream string) (ledger.Position, error) {
	if at, ok := readStored(b, stream); ok {
		return at, nil
	}
	var answer struct {
		Error  *apiError       `json:"error"`
		Stream string          `json:"stream"`
		Seq    ledger.Position `json:"seq"`
	}
	switch err := json.Unmarshal(b, &answer); {
	case err != nil:
		return 0, fmt.Errorf("an answer of JetStream cannot be read: %w", err)
	case answer.Error != nil:
		return 0, answer.Error
	case answer.Stream != stream || answer.Seq == 0:
		return 0, fmt.Errorf("an answer of JetStream is of another stream: %q", answer.Stream)
	}
	return answer.Seq, nil
}

// readStored reads an answer as nats-server writes it for nearly each entry; false: it is another one. Each entry has one, and JSON takes several times as long.
func readStored(b []byte, stream string) (at ledger.Position, ok bool) {
	b, begins := bytes.CutPrefix(b, []byte(`{"stream":"`))
	b, named := bytes.CutPrefix(b, []byte(stream))
	b, counted := bytes.CutPrefix(b, []byte(`","seq":`))
	b, ends := bytes.CutSuffix(b, []byte("}"))
	n, err := strconv.ParseUint(string(b), 10, 64)
	return ledger.Position(n), begins && named && counted && ends && n > 0 && err == nil
}

// settle looks which entry follows the expected one after an attempt without an answer: done reports whether that decides it.
func (l *Log) settle(ctx context.Context, m *nats.Msg, expect ledger.Position) (at ledger.Position, done bool, err error) {
	next, ok, err := l.fromLeader(ctx, getRequest{Seq: expect + 1, NextFor: m.Subject})
	switch {
	case err != nil || !ok:
		return 0, false, nil //nolint:nilerr // undecided: it may still arrive, and of two the comparison accepts one
	case next.nonce == m.Header.Get(headerNonce):
		l.health.reached(next.seq)
		return next.seq, true, nil
	}
	return 0, true, fmt.Errorf("%w: another entry follows %d", ledger.ErrConflict, expect)
}

// passing reports whether an error of a request may pass by itself within seconds, as during an election.
func passing(err error) bool {
	switch codeOf(err) {
	case codeNotAvailable, codeNotLeader, codeStreamOffline, codeSequenceInQueue:
		return true
	case 0:
		return !errors.Is(err, nats.ErrConnectionClosed) && !errors.Is(err, nats.ErrMaxPayload)
	}
	return false
}

// pause waits before the next try.
func (l *Log) pause(ctx context.Context) { l.pauseFor(ctx, retryAfter) }

func (l *Log) pauseFor(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	case <-l.closing:
	}
}
