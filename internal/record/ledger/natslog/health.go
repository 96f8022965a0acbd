package natslog

import (
	"fmt"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// health says whether the log accepts writes.
type health struct {
	mu     sync.Mutex
	cause  error     // of the last failure; nil after a success
	since  time.Time // of the first failure after a success
	broken error     // stays until the process is started again
	known  ledger.Position
}

// err says why the log does not accept writes; nil: it does.
func (h *health) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.broken != nil:
		return unavailable(h.broken)
	case h.cause != nil:
		return unavailable(h.cause)
	}
	return nil
}

// permanent is the error that stays.
func (h *health) permanent() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken != nil {
		return unavailable(h.broken)
	}
	return nil
}

// failed keeps the cause of a failure; nil: there is none any more.
func (h *health) failed(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause == nil {
		h.since = time.Now()
	}
	h.cause = cause
}

// tries returns for how long a call is tried again: not at all where nothing has succeeded for longer than an election takes. What is behind the failure
// does not pass within one call then, and the caller is to hear of it, not to wait.
func (h *health) tries() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause != nil && time.Since(h.since) > patience {
		return 0
	}
	return patience
}

// stop ends writing for good.
func (h *health) stop(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken == nil {
		h.broken = cause
	}
}

// reached remembers that entries up to a position have been acknowledged.
func (h *health) reached(p ledger.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = max(h.known, p)
}

func (h *health) reachedUntil() ledger.Position {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known
}

func lost(end, reached ledger.Position) error {
	return fmt.Errorf("%w (it ends at %d, and %d was acknowledged)", errLost, end, reached)
}
