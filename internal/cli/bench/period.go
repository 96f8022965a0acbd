package bench

import (
	"sync"
	"time"
)

// maxWarmUp is how long a run warms up at most, unless its handoffs take longer: connections are made, and caches filled.
const maxWarmUp = time.Second

// A run looks at the clock at each heartbeat. If that took longer than the longest, it stood still in between: it was stopped, as by Ctrl-Z, or its machine slept.
const (
	heartbeat = 100 * time.Millisecond
	longest   = 2 * time.Second
)

// period is the part of a run that is measured. It opens after the warm-up, when each client has done a handoff, and closes when it has
// been open for the time of the run and each client has done one in it. Time in which the run stood still is no part of it. It is safe for concurrent use.
type period struct {
	clients     int
	warmUp, run time.Duration

	mu                    sync.Mutex
	began, opened, closed time.Time
	done                  map[int]bool // clients that have done a handoff since it began or was opened
	last                  time.Time    // look at the clock
	stood                 []gap
}

// gap is when a run stood still.
type gap struct{ from, to time.Time }

// ending is what the end of a handoff means.
type ending struct {
	counts bool // the handoff is in what is measured
	stood  bool // the run stood still during the handoff: it says nothing of the server
	more   bool // the client goes on
}

func newPeriod(clients int, run time.Duration, now time.Time) *period {
	return &period{clients: clients, warmUp: min(run/10, maxWarmUp), run: run, began: now, last: now, done: map[int]bool{}}
}

// beat looks at the clock.
func (p *period) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look(now)
}

func (p *period) look(now time.Time) {
	if now.Sub(p.last) > longest {
		p.stood = append(p.stood, gap{p.last, now})
	}
	if now.After(p.last) {
		p.last = now
	}
}

// beats looks at the clock until done is closed.
func (p *period) beats(done <-chan struct{}) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			p.beat(time.Now())
		}
	}
}

// ended notes the end of a handoff of a client.
func (p *period) ended(client int, began, now time.Time) ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look(now)
	stood := len(p.stood) > 0 && p.stood[len(p.stood)-1].to.After(began)
	if !p.closed.IsZero() {
		return ending{stood: stood}
	}
	e := ending{counts: !p.opened.IsZero() && !stood, stood: stood, more: true}
	p.done[client] = true
	switch {
	case len(p.done) < p.clients:
	case p.opened.IsZero() && now.Sub(p.began) >= p.warmUp:
		p.opened, p.done = now, map[int]bool{}
	case !p.opened.IsZero() && p.since(now) >= p.run:
		p.closed, e.more = now, false
	}
	return e
}

// since is how long the period was open at a time, by what is known of pauses. Another look at the clock, of a later time, may have come before.
func (p *period) since(now time.Time) time.Duration {
	d := now.Sub(p.opened)
	for _, s := range p.stood {
		if s.from.After(p.opened) && now.After(s.from) {
			d -= min(s.to.Sub(s.from), now.Sub(s.from))
		}
	}
	return d
}

// open is how long the period has been open now, after a look whether the run has stood still.
func (p *period) open(now time.Time) time.Duration {
	p.beat(now)
	d, _ := p.length(now)
	return d
}

// length is how long the period was open, and how long the run stood still; now is when the last handoff ended.
func (p *period) length(now time.Time) (open, stood time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stood {
		stood += s.to.Sub(s.from)
	}
	switch {
	case p.opened.IsZero(): // interrupted
		return 0, stood
	case p.closed.IsZero():
		return p.since(now), stood
	}
	return p.since(p.closed), stood
}
