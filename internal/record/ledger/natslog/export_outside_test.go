//go:build outside

package natslog

import (
	"context"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Deaf returns options of a log that does not hear what others append.
func Deaf(o Options) Options {
	o.deaf = true
	return o
}

// Wanted is the configuration of the stream of a new record.
var Wanted = wanted

// WithoutAnswer has the next append of a log lose the answer to its first attempt.
func WithoutAnswer(l *Log) *Log {
	l.lose.Store(true)
	return l
}

// ErrElected is the error of a request that is on its way when a leader is elected.
var ErrElected = errElected

// Send sends a request to a subject.
func Send(ctx context.Context, l *Log, subject string) error {
	_, err := l.send(ctx, &nats.Msg{Subject: subject})
	return err
}

// Between reads a stream up to a position.
func Between(ctx context.Context, l *Log, s ledger.Stream, end ledger.Position) error {
	_, err := l.between(ctx, s, 0, end, 10)
	return err
}

// AskAfterElection asks the leader of a stream for its first message a moment after it was elected.
func AskAfterElection(ctx context.Context, conn *nats.Conn, stream string) error {
	l := &Log{opts: Options{Name: stream}, conn: conn}
	if _, err := l.leaders.subscribe(conn, stream); err != nil {
		return err
	}
	if _, err := l.replies.subscribe(conn); err != nil {
		return err
	}
	l.leaders.elected(nil)
	_, _, err := l.fromLeader(ctx, getRequest{Seq: 1})
	return err
}

// AskReplica asks the replicas of a stream for the first message.
func AskReplica(ctx context.Context, conn *nats.Conn, stream string) error {
	l := &Log{opts: Options{Name: stream}, conn: conn}
	if _, err := l.leaders.subscribe(conn, stream); err != nil {
		return err
	}
	if _, err := l.replies.subscribe(conn); err != nil {
		return err
	}
	return l.fromReplica(ctx, getRequest{Seq: 1}, func(message) bool { return true })
}
