package cluster

import "sync"

// Gate is open while calls may wait. [NewGate] makes one.
type Gate struct {
	mu      sync.Mutex
	shut    bool
	drained bool
	final   bool          // the server stops
	closed  chan struct{} // while it is not open
}

// NewGate returns a gate that is open.
func NewGate() *Gate { return &Gate{closed: make(chan struct{})} }

// Drain closes the gate, or opens it again, and reports whether that changes something.
func (g *Gate) Drain(on bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.drained == on {
		return false
	}
	g.drained = on
	g.set()
	return true
}

// Stop closes the gate for good.
func (g *Gate) Stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.final = true
	g.set()
}

func (g *Gate) set() {
	shut := g.drained || g.final
	switch {
	case shut && !g.shut:
		close(g.closed)
	case !shut && g.shut:
		g.closed = make(chan struct{})
	}
	g.shut = shut
}

// Closed returns a channel that is closed when the gate is.
func (g *Gate) Closed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// Drained reports whether the server takes no new work.
func (g *Gate) Drained() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.drained
}
