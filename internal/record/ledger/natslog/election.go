package natslog

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// errElected is for a request that was sent before a leader was elected.
var errElected = errors.New("another leader was elected meanwhile")

// elections ends requests whose leader may be gone, so that they are repeated at the new one at once and not after [requestTimeout].
type elections struct {
	mu   sync.Mutex
	term context.Context // until the next leader is elected
	next context.CancelFunc
	at   time.Time     // of the last election
	told chan struct{} // of an election
}

// For a while after an election the new leader may not answer yet, and a replica may be where nothing is heard of it though its connections have not ended. So a question is asked
// again sooner.
const (
	freshFor     = 2 * requestTimeout
	freshTimeout = requestTimeout / 4
)

// limit returns for how long an answer to a question is waited for; fresh: it is to be asked again, as a leader was elected a moment ago.
func (e *elections) limit() (d time.Duration, fresh bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.at) < freshFor {
		return freshTimeout, true
	}
	return requestTimeout, false
}

// subscribe listens to what JetStream says of the leaders of a stream.
func (e *elections) subscribe(conn *nats.Conn, stream string) (*nats.Subscription, error) {
	e.told = make(chan struct{}, 1)
	e.begin()
	return conn.Subscribe("$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED."+stream, e.elected)
}

func (e *elections) elected(*nats.Msg) {
	e.begin()
	e.mu.Lock()
	e.at = time.Now()
	e.mu.Unlock()
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

// within returns a context that also ends after a time, and when a leader is elected, with the cause errElected.
func (e *elections) within(ctx context.Context, limit time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	ctx, end := context.WithCancelCause(ctx)
	e.mu.Lock()
	stop := context.AfterFunc(e.term, func() { end(errElected) })
	e.mu.Unlock()
	return ctx, func() { stop(); cancel() }
}
