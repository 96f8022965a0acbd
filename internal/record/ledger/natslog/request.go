package natslog

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// replies is where answers of servers arrive. There is one subscription for all requests: each takes half a megabyte, and is told to all servers.
type replies struct {
	prefix string // of their subjects

	mu      sync.Mutex
	begun   uint64 // requests
	waiting map[string]chan *nats.Msg
}

func (r *replies) subscribe(conn *nats.Conn) (*nats.Subscription, error) {
	r.prefix, r.waiting = conn.NewInbox()+".", map[string]chan *nats.Msg{}
	return conn.Subscribe(r.prefix+"*", func(m *nats.Msg) {
		r.mu.Lock()
		got := r.waiting[m.Subject]
		r.mu.Unlock()
		select {
		case got <- m:
		default: // nobody waits any more
		}
	})
}

// wait is a request that waits for its answers.
type wait struct {
	replies *replies
	inbox   string // the subject of the answers
	got     chan *nats.Msg
	elected <-chan struct{}
	late    *time.Timer
}

// wait begins to wait for so many answers, until the end of the wait, for so long, or until a leader is elected.
func (l *Log) wait(most int, limit time.Duration) *wait {
	w := &wait{replies: &l.replies, got: make(chan *nats.Msg, most), elected: l.leaders.current(), late: time.NewTimer(limit)}
	r := w.replies
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	w.inbox = r.prefix + strconv.FormatUint(r.begun, 36)
	r.waiting[w.inbox] = w.got
	return w
}

func (w *wait) end() {
	w.late.Stop()
	w.replies.mu.Lock()
	defer w.replies.mu.Unlock()
	delete(w.replies.waiting, w.inbox)
}

// next returns the next answer. If an election ends the wait, its error is errElected.
func (w *wait) next(ctx context.Context) (*nats.Msg, error) {
	select {
	case m := <-w.got:
		if len(m.Data) == 0 && m.Header.Get(headerStatus) == "503" { // of the server of the connection
			return nil, nats.ErrNoResponders
		}
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.late.C:
		return nil, context.DeadlineExceeded
	case <-w.elected:
		return nil, errElected
	}
}
