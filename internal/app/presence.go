package app

import (
	"sync"
	"time"
)

// presence is when agents were last heard. It is volatile: only changes of readiness are on record. After a restart
// it counts from the start.
type presence struct {
	mu      sync.Mutex
	since   time.Time
	heard   map[string]time.Time // by workspace/agent
	waiting map[string]int       // calls at the inbox: who waits is there
}

func newPresence(now time.Time) *presence {
	return &presence{since: now, heard: map[string]time.Time{}, waiting: map[string]int{}}
}

// wait notes that an agent waits, until the function returned is called.
func (p *presence) wait(workspace, agent string, now func() time.Time) (done func()) {
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		key := workspace + "/" + agent
		p.heard[key] = now()
		if p.waiting[key] += n; p.waiting[key] == 0 {
			delete(p.waiting, key)
		}
	}
	add(1)
	return func() { add(-1) }
}

func (p *presence) beat(workspace, agent string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard[workspace+"/"+agent] = now
}

func (p *presence) last(workspace, agent string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[workspace+"/"+agent] > 0 {
		return now
	}
	if t, ok := p.heard[workspace+"/"+agent]; ok {
		return t
	}
	return p.since
}
