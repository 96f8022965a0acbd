package natslog

import (
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
	term chan struct{} // closed when the next leader is elected
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
	if e.term != nil {
		close(e.term)
	}
	e.term = make(chan struct{})
}

// current returns what is closed when another leader is elected.
func (e *elections) current() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.term
}
