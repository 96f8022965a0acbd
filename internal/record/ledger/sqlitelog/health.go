package sqlitelog

import (
	"fmt"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// health tells whether the log can write.
type health struct {
	dir     string
	minFree int64

	mu         sync.Mutex
	failed     error // until restart
	full       error // SQLite could not write; until a write succeeds or there is more space
	freeAtFull int64
}

// check returns an ErrUnavailable if a write would fail now. It costs one statfs.
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
		return fmt.Errorf("%w: the disk of %s is full (%d KiB free, %d needed): free some space; writing then continues",
			ledger.ErrUnavailable, h.dir, free>>10, h.minFree>>10)
	}
	return nil
}

// err returns the error of check, or that of the last write to a full disk.
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

// classify records the error of a failed transaction and returns the answer for all appends in it. inCommit says whether
// it failed in the commit, where an I/O error leaves the outcome open.
func (h *health) classify(err error, inCommit bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case isFull(err): // SQLite reports this before the commit's last frame is written: the transaction is gone
		h.full = fmt.Errorf("%w: the disk of %s is full: free some space; writing then continues: %w", ledger.ErrUnavailable, h.dir, err)
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

// broken reports whether writing has stopped until a restart.
func (h *health) broken() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed != nil
}
