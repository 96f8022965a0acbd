package presence

import (
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Presence is when agents were last heard of. It is safe for many goroutines. It is volatile: only changes of readiness are recorded. After a restart
// it counts from the start.
type Presence struct {
	now     func() time.Time
	mu      sync.Mutex
	since   time.Time
	heard   map[string]time.Time // by workspace/agent
	waiting map[string]int       // calls at the inbox: who waits is there
	there   map[string]int       // agents that wait, by workspace
	slack   time.Duration        // how late it is learned here what was heard elsewhere
	news    map[string]bool      // who was heard here since the last News; nil: nobody asks
}

// New returns the presence of agents by a clock. Nobody has been heard of yet.
func New(now func() time.Time) *Presence {
	return &Presence{now: now, since: now(), heard: map[string]time.Time{}, waiting: map[string]int{}, there: map[string]int{}}
}

// NewShared returns the presence of agents that are heard of by several servers. Those tell each other by [Presence.News] and
// [Presence.Learn], within slack: by so much later an agent counts as silent.
func NewShared(now func() time.Time, slack time.Duration) *Presence {
	p := New(now)
	p.slack, p.news = slack, map[string]bool{}
	return p
}

// hear notes that an agent was heard here. It needs p.mu.
func (p *Presence) hear(key string) {
	p.heard[key] = p.now()
	if p.news != nil {
		p.news[key] = true
	}
}

// News returns how long ago agents, as workspace/name, were heard of here, for those that were since the last call.
func (p *Presence) News() map[string]time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, news := p.now(), map[string]time.Duration{}
	for key := range p.news {
		news[key] = now.Sub(p.heard[key])
	}
	for key := range p.waiting {
		news[key] = 0
	}
	clear(p.news)
	return news
}

// Learn takes how long ago agents were heard of elsewhere, or here.
func (p *Presence) Learn(ages map[string]time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for key, age := range ages {
		if at := now.Add(-age); at.After(p.heard[key]) {
			p.heard[key] = at
		}
	}
}

// Waits notes that an agent waits, until the function returned is called.
func (p *Presence) Waits(workspace, agent string) (done func()) {
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		key := workspace + "/" + agent
		p.hear(key)
		before := p.waiting[key]
		switch p.waiting[key] += n; {
		case before == 0:
			p.there[workspace]++
		case p.waiting[key] == 0:
			delete(p.waiting, key)
			if p.there[workspace]--; p.there[workspace] == 0 {
				delete(p.there, workspace)
			}
		}
	}
	add(1)
	return func() { add(-1) }
}

// Waiting is how many agents of a workspace wait here.
func (p *Presence) Waiting(workspace string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.there[workspace]
}

// Beat notes that an agent lives.
func (p *Presence) Beat(workspace, agent string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hear(workspace + "/" + agent)
}

// Last is the time from which on an agent is silent: when it was last heard, or the start, for one that was not.
func (p *Presence) Last(workspace, agent string) time.Time {
	if t := p.Seen(workspace, agent); !t.IsZero() {
		return t.Add(p.slack)
	}
	return p.since.Add(p.slack)
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
