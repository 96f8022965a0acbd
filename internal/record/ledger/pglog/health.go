package pglog

import (
	"fmt"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// health says whether the log accepts writes.
type health struct {
	mu        sync.Mutex
	cause     error     // of the last failure; nil after a success
	broken    error     // stays until the process is started again
	committed time.Time // when the commit in progress was sent; zero: there is none
	id        string    // of the record
	known     ledger.Position
}

// begin is for the state of a record that has been opened.
func (h *health) begin(s status, acknowledged ledger.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.id, h.known = s.id, max(s.last, acknowledged)
}

// err says why the log does not accept writes; nil: it does.
func (h *health) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch took := time.Since(h.committed); {
	case h.broken != nil:
		return unavailable(h.broken)
	case h.cause != nil:
		return unavailable(h.cause)
	case !h.committed.IsZero() && took > slowCommit:
		return unavailable(fmt.Errorf("no answer to a commit for %s: if it has synchronous standbys, so many of them must be connected as synchronous_standby_names says", took.Round(time.Second)))
	}
	return nil
}

// failed keeps the cause of a failure; nil: there is none any more.
func (h *health) failed(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cause = cause
}

func (h *health) hasFailed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cause != nil
}

// commits remembers since when a commit is in progress; zero: there is none.
func (h *health) commits(since time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.committed = since
}

// reached remembers that entries up to a position have been committed.
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

// check refuses a record that is not the one that was opened, or ends before a position that had been reached before its state was read.
func (h *health) check(s *status, reached ledger.Position) error {
	if err := checkFormat(s.format); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.broken != nil:
	case s.id != h.id:
		h.broken = errReplaced
	case s.last < reached:
		h.broken = fmt.Errorf("%w (it ends at %d, and %d was confirmed)", errLost, s.last, reached)
	}
	return h.broken
}
