package natslog

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
)

// errElected is for a request that was sent before a leader was elected.
var errElected = errors.New("another leader was elected meanwhile")

// elections ends requests whose leader may be gone, so that they are repeated at the new one at once and not after [requestTimeout].
type elections struct {
	mu   sync.Mutex
	term context.Context // until the next leader is elected
	next context.CancelFunc
	told chan struct{} // of an election
}

// subscribe listens to what JetStream says of the leaders of a stream.
func (e *elections) subscribe(conn *nats.Conn, stream string) (*nats.Subscription, error) {
	e.told = make(chan struct{}, 1)
	e.begin()
	return conn.Subscribe("$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED."+stream, e.elected)
}

func (e *elections) elected(*nats.Msg) {
	e.begin()
	select {
	case e.told <- struct{}{}:
	default:
	}
}

// begin begins a term, and ends the one before.
func (e *elections) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next != nil {
		e.next()
	}
	e.term, e.next = context.WithCancel(context.Background())
}

// within returns a context that also ends when a leader is elected, with the cause errElected.
func (e *elections) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	ctx, end := context.WithCancelCause(ctx)
	e.mu.Lock()
	stop := context.AfterFunc(e.term, func() { end(errElected) })
	e.mu.Unlock()
	return ctx, func() { stop(); cancel() }
}
