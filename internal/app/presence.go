package app

import (
	"sync"
	"time"
)

// presence is when agents were last heard. It is volatile: only changes of readiness are on record. After a restart
// it counts from the start.
type presence struct {
	mu    sync.Mutex
	since time.Time
	heard map[string]time.Time // by workspace/agent
}

func newPresence(now time.Time) *presence {
	return &presence{since: now, heard: map[string]time.Time{}}
}

func (p *presence) beat(workspace, agent string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard[workspace+"/"+agent] = now
}

func (p *presence) last(workspace, agent string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.heard[workspace+"/"+agent]; ok {
		return t
	}
	return p.since
}
