package cluster

import (
	"context"
	"sync"
)

// Gate is open while calls may wait. [NewGate] makes one.
type Gate struct {
	mu      sync.Mutex
	shut    bool
	drained bool
	final   bool            // the server stops
	closed  context.Context //nolint:containedctx // ended while the gate is not open
	close   context.CancelFunc
}

// NewGate returns a gate that is open.
func NewGate() *Gate {
	g := &Gate{}
	g.open()
	return g
}

func (g *Gate) open() { g.closed, g.close = context.WithCancel(context.Background()) }

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
		g.close()
	case !shut && g.shut:
		g.open()
	}
	g.shut = shut
}

// Closed returns a context that ends when the gate is closed. It is ended while the gate is.
func (g *Gate) Closed() context.Context {
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
