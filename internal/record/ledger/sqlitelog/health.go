package sqlitelog

import (
	"fmt"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// health says whether the log may write.
type health struct {
	dir     string
	minFree int64

	mu         sync.Mutex
	failed     error // until restart
	full       error // SQLite could not write; until a write succeeds or there is more space
	freeAtFull int64
}

// check returns an ErrUnavailable if it is no use to try a write now. It costs one statfs.
func (h *health) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed != nil {
		return h.failed
	}
	if h.minFree < 0 {
		return nil
	}
	if free, err := freeSpace(h.dir); err == nil && free < h.minFree {
		return fmt.Errorf("%w: the disk of %s is full (%d KiB free, %d needed): make room, writing then goes on",
			ledger.ErrUnavailable, h.dir, free>>10, h.minFree>>10)
	}
	return nil
}

// err is check for those who only want to know.
func (h *health) err() error {
	if err := h.check(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.full != nil {
		if free, err := freeSpace(h.dir); err == nil && free > h.freeAtFull {
			h.full = nil
		}
	}
	return h.full
}

// wrote records a successful commit.
func (h *health) wrote() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.full = nil
}

// blame decides what a failed transaction means and returns the answer for everyone in it. inCommit says whether
// it failed while committing, when an I/O error leaves the outcome open.
func (h *health) blame(err error, inCommit bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case isFull(err): // SQLite reports this before the commit's last frame is written: the transaction is gone
		h.full = fmt.Errorf("%w: the disk of %s is full: make room, writing then goes on: %w", ledger.ErrUnavailable, h.dir, err)
		h.freeAtFull, _ = freeSpace(h.dir)
		return h.full
	case code(err) == codeBusy && !inCommit:
		return fmt.Errorf("%w: another program holds a lock on the database: %w", ledger.ErrUnavailable, err)
	}
	h.failed = fmt.Errorf("%w: stopped after an error of the disk or the database: check the disk, then restart: %w",
		ledger.ErrUnavailable, err)
	if inCommit {
		return unknown(err)
	}
	return h.failed
}

// broken says whether writing has stopped until a restart.
func (h *health) broken() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed != nil
}
