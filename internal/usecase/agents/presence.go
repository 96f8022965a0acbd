package agents

import (
	"context"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
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

// last is when an agent was last heard; the start, for one that was not.
func (p *presence) last(workspace, agent string, now time.Time) time.Time {
	if t := p.seen(workspace, agent, now); !t.IsZero() {
		return t
	}
	return p.since
}

// seen is when an agent was last heard since the start; zero if it was not.
func (p *presence) seen(workspace, agent string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[workspace+"/"+agent] > 0 {
		return now
	}
	return p.heard[workspace+"/"+agent]
}

// LapsePresence makes agents offline whose heartbeats have stopped. It returns when the next could lapse.
func (r *Roster) LapsePresence(ctx context.Context, workspace string) (next time.Time, err error) {
	agents, err := r.views.Agents(ctx, workspace)
	if err != nil {
		return next, stream.Unavailable(err)
	}
	for _, s := range agents {
		ttl := s.Spec.PresenceTTL
		if ttl <= 0 || s.Lapsed {
			continue
		}
		heard := r.presence.last(workspace, s.Name, r.now())
		if at := heard.Add(ttl); at.After(r.now()) {
			if next.IsZero() || at.Before(next) {
				next = at
			}
			continue
		}
		_, err := r.ChangeAgent(ctx, caller.System(workspace, "courier"), s.Name, "", agent.LapsePresence{Name: s.Name, LastHeard: heard})
		if err := caller.Tolerate(err); err != nil {
			return next, err
		}
	}
	return next, nil
}

// Present notes that an agent works, and so is there.
func (r *Roster) Present(c caller.Caller) {
	if name := c.Agent(); name != "" {
		r.presence.beat(c.Workspace, name, r.now())
	}
}

// Waits notes that an agent waits at its inbox, until the function returned is called.
func (r *Roster) Waits(workspace, agent string) (done func()) {
	return r.presence.wait(workspace, agent, r.now)
}
