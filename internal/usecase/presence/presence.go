package presence

import (
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Presence is when agents were last heard of. It is volatile: only changes of readiness are recorded. After a restart
// it counts from the start.
type Presence struct {
	now     func() time.Time
	mu      sync.Mutex
	since   time.Time
	heard   map[string]time.Time // by workspace/agent
	waiting map[string]int       // calls at the inbox: who waits is there
}

// New returns the presence of agents by a clock. Nobody has been heard of yet.
func New(now func() time.Time) *Presence {
	return &Presence{now: now, since: now(), heard: map[string]time.Time{}, waiting: map[string]int{}}
}

// Waits notes that an agent waits, until the function returned is called.
func (p *Presence) Waits(workspace, agent string) (done func()) {
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		key := workspace + "/" + agent
		p.heard[key] = p.now()
		if p.waiting[key] += n; p.waiting[key] == 0 {
			delete(p.waiting, key)
		}
	}
	add(1)
	return func() { add(-1) }
}

// Beat notes that an agent lives.
func (p *Presence) Beat(workspace, agent string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard[workspace+"/"+agent] = p.now()
}

// Last is when an agent was last heard; the start, for one that was not.
func (p *Presence) Last(workspace, agent string) time.Time {
	if t := p.Seen(workspace, agent); !t.IsZero() {
		return t
	}
	return p.since
}

// Seen is when an agent was last heard since the start; zero if it was not.
func (p *Presence) Seen(workspace, agent string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[workspace+"/"+agent] > 0 {
		return p.now()
	}
	return p.heard[workspace+"/"+agent]
}

// Note notes that a caller works, and so lives. It counts for agents alone.
func (p *Presence) Note(c caller.Caller) {
	if name := c.Agent(); name != "" {
		p.Beat(c.Workspace, name)
	}
}
