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
	doubt  error     // it may be the first answer of a leader that was paused, and is no leader any more
	began  time.Time // of the doubt
	known  ledger.Position
}

// err says why the log does not accept writes; nil: it does.
func (h *health) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.broken != nil:
		return unavailable(h.broken)
	case h.doubt != nil:
		return unavailable(h.doubt)
	case h.cause != nil:
		return unavailable(h.cause)
	}
	return nil
}

// refuses is why nothing may be written: for good, or while there is a doubt.
func (h *health) refuses() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken != nil {
		return unavailable(h.broken)
	}
	if h.doubt != nil {
		return unavailable(h.doubt)
	}
	return nil
}

// confirmAfter is how long it is looked again whether entries are lost, before that is believed. A leader that was paused, and processes what others sent
// to it meanwhile, calls itself the leader for a moment, and lacks what the next one has.
const confirmAfter = 3 * time.Second

// doubts ends writing until the next look, and for good if that finds the same for long.
func (h *health) doubts(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.doubt == nil {
		h.began = time.Now()
	}
	if h.doubt = cause; time.Since(h.began) >= confirmAfter && h.broken == nil {
		h.broken = cause
	}
}

// trusts ends a doubt.
func (h *health) trusts() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doubt = nil
}

func (h *health) isInDoubt() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.doubt != nil && h.broken == nil
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
