package park

import (
	"context"
	"sync"
	"time"
)

// Place is where one call leaves what it would wait for.
type Place struct {
	mu      sync.Mutex
	changed <-chan struct{} // nil: the call would not wait
	leave   func()
	left    bool
}

type contextKey struct{}

// With returns a context for a call that is not to wait, and its place. The caller must call [Place.Leave].
func With(ctx context.Context) (context.Context, *Place) {
	p := &Place{}
	return context.WithValue(ctx, contextKey{}, p), p
}

// From returns the place of a call, nil if it has none.
func From(ctx context.Context) *Place {
	p, _ := ctx.Value(contextKey{}).(*Place)
	return p
}

// Take leaves in the place what the call would wait for. leave is called when nobody waits there any more.
func (p *Place) Take(changed <-chan struct{}, leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left {
		leave()
		return
	}
	p.changed, p.leave = changed, leave
}

// Taken reports whether the call would have waited.
func (p *Place) Taken() bool { return p.taken() != nil }

func (p *Place) taken() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// Wait waits for what the call left, at most until end, or until ctx or until is over, and reports whether that came. It returns at once if the call left
// nothing. What came may be for another: the call can be made with another place to learn that.
func (p *Place) Wait(ctx, until context.Context, end time.Time) (came bool) {
	changed := p.taken()
	if changed == nil {
		return false
	}
	over := time.NewTimer(time.Until(end))
	defer over.Stop()
	select {
	case <-changed:
		return true
	case <-over.C:
	case <-ctx.Done():
	case <-until.Done():
	}
	return false
}

// Leave gives the place up, also for a call that has not ended yet. It may be called again.
func (p *Place) Leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leave != nil {
		p.leave()
	}
	p.changed, p.leave, p.left = nil, nil, true
}
