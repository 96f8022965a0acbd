package sqlitelog

import (
	"errors"
	"fmt"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/reserve"
)

const (
	// leastSpace is the free space, in bytes, below which nothing at all is written: it is what an orderly stop needs.
	leastSpace = 1 << 20
	// decisionSpace is the free space below which nothing is decided for a read: the rest is for the records of reads.
	decisionSpace = 5 << 20
	// commitSpace is how much more than it needs is taken of the reserve at a time. It is little, because whatever fills the disk may be
	// quicker to use it.
	commitSpace = 1 << 20
)

// health tells whether the log can write.
type health struct {
	dir     string
	minFree int64
	space   func(dir string) (int64, error) // reserve.Recent of reserve.Free, except in tests

	mu         sync.Mutex
	reserve    reserve.File
	short      bool  // the last check found too little free space
	failed     error // until restart
	full       error // SQLite could not write; until a write succeeds or there is more space
	freeAtFull int64
}

// check returns an ErrUnavailable if a write would fail now, and an ErrFull if that is for lack of space. It costs at most one statfs: see [reserve.Recent].
func (h *health) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.checkSpace(h.minFree)
}

// checkSpace is check with so many bytes needed. The lock is held.
func (h *health) checkSpace(needed int64) error {
	if h.failed != nil {
		return h.failed
	}
	if h.minFree < 0 {
		return nil
	}
	free, err := h.space(h.dir)
	if err != nil {
		return nil //nolint:nilerr // where the space is not known, a full disk is detected when a write fails
	}
	h.short = free < h.minFree
	if !h.short && h.full == nil {
		h.reserve.Keep(free, h.minFree)
	}
	if free >= needed {
		return nil
	}
	return fmt.Errorf("%w: read-only, because the disk of %s is full (%d KiB free, %d needed): free some space; writing then continues",
		ledger.ErrFull, h.dir, free>>10, h.minFree>>10)
}

// checkReads is check for what is recorded so that something can be read, which goes on when nothing else is written: it uses the
// reserve, once little else is left. needed is the space, in bytes, that has to be free. It reports whether a part of the reserve
// has become free.
func (h *health) checkReads(needed int64) (released bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed != nil {
		return false, h.failed
	}
	released = h.release(needed)
	return released, h.checkSpace(needed)
}

// release gives a part of the reserve back to the file system if less space than needed is free, or SQLite has found none. The lock is
// held.
func (h *health) release(needed int64) (released bool) {
	lacking := int64(0)
	if free, err := h.space(h.dir); err == nil {
		lacking = needed + commitSpace - free
	}
	if h.full != nil { // it may be a quota, which the free space does not show
		lacking = max(lacking, commitSpace)
	}
	if lacking <= 0 || !h.reserve.Release(lacking) {
		return false
	}
	h.freeAtFull, _ = h.space(h.dir)
	return true
}

// begin makes use of the reserve of the last process where the disk is too full to open the database.
func (h *health) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reserve.Look()
	h.release(decisionSpace)
}

// shortened stops writing for good if the last entries are missing.
func (h *health) shortened(last, acknowledged ledger.Position) {
	if last >= acknowledged {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = fmt.Errorf("%w: the record ends at position %d, but entries up to %d were acknowledged and are missing: restore the data directory from a backup; "+
		"nothing is written until then, so that no position is given twice", ledger.ErrUnavailable, last, acknowledged)
}

// isShort reports whether the last check found too little space.
func (h *health) isShort() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.short || h.full != nil
}

// err returns the error of check, or that of the last write to a full disk.
func (h *health) err() error {
	if err := h.check(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.full != nil {
		if free, err := h.space(h.dir); err == nil && free > h.freeAtFull {
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
		h.full = fmt.Errorf("%w: read-only, because the disk of %s is full: free some space; writing then continues: %w", ledger.ErrFull, h.dir, err)
		h.freeAtFull, _ = h.space(h.dir)
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

// fail stops writing after a fault of the program, which may have left a transaction open.
func (h *health) fail() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = fmt.Errorf("%w: stopped after a fault of the program, which its log has: restart", ledger.ErrUnavailable)
}

// broken reports whether writing has stopped until a restart.
func (h *health) broken() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed != nil
}

// isFullDisk reports whether an answer of check or classify is for lack of space.
func isFullDisk(err error) bool { return errors.Is(err, ledger.ErrFull) }
