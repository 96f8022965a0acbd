package bench

import (
	"sync"
	"time"
)

// maxWarmUp is how long a run warms up at most, unless its handoffs take longer: connections are made, and caches filled.
const maxWarmUp = time.Second

// period is the part of a run that is measured. It opens after the warm-up, when each client has done a handoff, and closes when it has
// been open for the time of the run and each client has done one in it. It is safe for concurrent use.
type period struct {
	clients   int
	warm, run time.Duration

	mu                    sync.Mutex
	began, opened, closed time.Time
	done                  map[int]bool // clients that have done a handoff since it began or was opened
}

func newPeriod(clients int, run time.Duration, now time.Time) *period {
	return &period{clients: clients, warm: min(run/10, maxWarmUp), run: run, began: now, done: map[int]bool{}}
}

// ended notes the end of a handoff of a client. It reports whether the handoff counts, and whether the client goes on.
func (p *period) ended(client int, now time.Time) (counts, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed.IsZero() {
		return false, false
	}
	counts = !p.opened.IsZero()
	p.done[client] = true
	switch {
	case len(p.done) < p.clients:
	case !counts && now.Sub(p.began) >= p.warm:
		p.opened, p.done = now, map[int]bool{}
	case counts && now.Sub(p.opened) >= p.run:
		p.closed = now
		return true, false
	}
	return counts, true
}

// length is how long the period was open; now is when the last handoff ended.
func (p *period) length(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.opened.IsZero(): // interrupted
		return 0
	case p.closed.IsZero():
		return now.Sub(p.opened)
	}
	return p.closed.Sub(p.opened)
}
