package natslog

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

// A leader remembers which subjects have a message on its way, and refuses any other for them until that is stored. It can forget to forget: nothing is on its way
// then, and the subject takes no message until there is another leader. So one that says so for long is asked to step down.

const (
	stuckAfter  = 4 * time.Second       // much longer than a message is on its way
	deposeEvery = time.Minute           // at most: a leader may only be slow, and so may the next one
	queuedRetry = 10 * time.Millisecond // until what is on its way is stored, or not
)

// onItsWay notes that the leader has again refused a message because another one of its subject is on its way, as it has since a time.
func (l *Log) onItsWay(ctx context.Context, since *time.Time) {
	after := l.opts.stuck
	if after == 0 {
		after = stuckAfter
	}
	switch {
	case since.IsZero():
		*since = time.Now()
	case time.Since(*since) >= after && l.mayDepose():
		_, _ = l.send(ctx, &nats.Msg{Subject: "$JS.API.STREAM.LEADER.STEPDOWN." + l.opts.Name}) // the next try tells what came of it
	}
}

// mayDepose reports whether the leader may be asked to step down now, and takes it that it is.
func (l *Log) mayDepose() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.deposed.IsZero() && time.Since(l.deposed) < deposeEvery {
		return false
	}
	l.deposed = time.Now()
	return true
}
