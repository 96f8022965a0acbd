package treefile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

const (
	// pause is the time after an error before the ledger is followed again.
	pause = time.Second
	// checked is the number of newest entries that are compared with the tree before the server accepts calls.
	checked = 256
	// page is how many entries are compared at a time.
	page = 64
	// maxStored is the size in bytes of the largest buffer of an entry that is kept for the next.
	maxStored = 64 << 10
)

// Check compares the tree with a ledger, which this process has opened and whose server does not accept calls yet: where it ends, and the newest
// entries. Call it before Run. What it finds is in [Store.Err]. Errors: those of the ledger and of the file system.
func (s *Store) Check(ctx context.Context, l ledger.Ledger) error {
	if err := s.own(); err != nil {
		return err
	}
	last, err := l.Last(ctx)
	if err != nil || s.Err() != nil {
		return err
	}
	if end := s.Acknowledged(); last < end {
		s.find(Finding{Position: last + 1, What: fmt.Sprintf("the record ends at position %d, but entries up to %d were acknowledged: they are missing", last, end)})
		return nil
	}
	size := s.size()
	at, err := s.compare(ctx, l, max(0, size-checked), size)
	if errors.Is(err, errUnreadable) { // the scan tries again
		s.o.Log.Warn("comparing the newest entries with the tree", "position", at, "error", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return s.first()
}

// first signs the first checkpoint before the first entry, so that a directory without one has lost it.
func (s *Store) first() error {
	if _, msg := s.Checkpoint(); msg != nil {
		return nil
	}
	return s.seal()
}

// Run follows a ledger until ctx ends: it adds entries to the tree, signs checkpoints, and compares older entries with the tree, the whole record
// once. After an error, which is logged, it goes on where it was; after a finding it returns.
func (s *Store) Run(ctx context.Context, l ledger.Ledger) {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.unsigned() // there may be entries since the last checkpoint
	running.Go(func() { s.sign(ctx) })
	running.Go(func() {
		if s.scan(ctx, l); s.Err() != nil {
			stop()
		}
	})
	for ctx.Err() == nil && s.Err() == nil {
		err := l.Follow(ctx, ledger.Position(s.size()), s.add) //nolint:gosec // never negative
		if ctx.Err() != nil || s.Err() != nil {
			return
		}
		if away, ok := ledger.AsPutAway(err); ok {
			err = s.grow(func(next *proof.Tree, hashes []proof.Hash) []proof.Hash { return next.Append(away.Leaf, hashes) })
			if err == nil {
				continue
			}
		}
		if damaged, ok := errors.AsType[*ledger.Damaged](err); ok && !proof.IsUnfinished(err) {
			s.find(Finding{Position: damaged.Position, What: damaged.Error()})
			return
		}
		s.o.Log.Warn("the tree of the record goes on where it was", "position", s.size(), "error", err)
		sleep(ctx, pause)
	}
}

// sleep waits for some time, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func (s *Store) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.Size()
}

var errFound = errors.New("treefile: the record and its tree differ")

// add appends the hashes of entries that follow the last one.
func (s *Store) add(entries []ledger.Entry) error {
	return s.grow(func(next *proof.Tree, hashes []proof.Hash) []proof.Hash {
		stored := s.buffers.stored // one buffer for all of them: they are most of what the tree would allocate
		for i := range entries {
			e := &entries[i]
			for ledger.Position(next.Size()+1) < e.Position { //nolint:gosec // never negative
				hashes = next.Append(proof.Gap, hashes)
			}
			stored = e.AppendStored(stored[:0])
			hashes = next.Append(proof.LeafOf(stored), hashes)
		}
		if cap(stored) <= maxStored {
			s.buffers.stored = stored
		}
		return hashes
	})
}

// grow appends leaves, and stores the hashes that they complete, which leaves appends to hashes.
func (s *Store) grow(leaves func(next *proof.Tree, hashes []proof.Hash) []proof.Hash) error {
	s.mu.Lock()
	next, found := s.tree.Clone(), s.found
	s.mu.Unlock()
	if found != nil {
		return errFound
	}
	hashes, b := leaves(next, s.buffers.hashes[:0]), s.buffers.bytes[:0]
	for _, h := range hashes {
		b = append(b, h[:]...)
	}
	s.buffers.hashes, s.buffers.bytes = hashes, b
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.WriteAt(b, tlog.StoredHashCount(s.tree.Size())*tlog.HashSize); err != nil {
		return err
	}
	s.tree = next
	s.unsigned()
	if s.waiting > 0 {
		s.wake()
	}
	return nil
}

// wake tells the callers that wait that something has changed. The lock is held.
func (s *Store) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// unsigned tells that there are entries that no checkpoint has.
func (s *Store) unsigned() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// sign signs a checkpoint when there are entries that none has, after a while in which more can come.
func (s *Store) sign(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.dirty:
		case <-s.hurry:
			s.sealAndLog()
			continue
		}
		t := time.NewTimer(s.o.Every)
		select {
		case <-ctx.Done():
		case <-s.hurry:
		case <-t.C:
		}
		t.Stop()
		s.sealAndLog()
	}
}

func (s *Store) sealAndLog() {
	if err := s.seal(); err != nil {
		s.o.Log.Warn("a checkpoint of the record was not written", "error", err)
		s.unsigned() // it is tried again, after a while
	}
}

// seal signs the tree as it is, once its hashes are on the disk. It does nothing if the last checkpoint has them and is by the key that signs now.
func (s *Store) seal() error {
	s.sealing.Lock()
	defer s.sealing.Unlock()
	s.mu.Lock()
	signer := s.signer
	c, found, first := proof.Checkpoint{Origin: signer.Name(), Size: s.tree.Size(), Root: s.tree.Root()}, s.found, s.note == nil
	same := !first && !s.again && c.Size == s.signed.Size
	s.mu.Unlock()
	if found != nil || same {
		return nil
	}
	if !s.o.Volatile {
		if err := s.file.Sync(); err != nil {
			return err
		}
	}
	msg, err := c.Sign(signer)
	if err != nil {
		return err
	}
	if err := s.write(checkpointName, msg); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signed, s.note, s.again = c, msg, false
	s.wake()
	return nil
}

// Await returns a checkpoint that has the entry at a position, which there is soon after the entry was appended. It has one signed without
// waiting for more entries. While witnesses cosign, it waits a moment for their cosignatures. Errors: of ctx, and what was found.
func (s *Store) Await(ctx context.Context, at ledger.Position) (proof.Checkpoint, []byte, error) {
	c, msg, err := s.await(ctx, at)
	if err != nil {
		return c, msg, err
	}
	ctx, cancel := context.WithTimeout(ctx, cosignedWithin)
	defer cancel()
	for {
		s.mu.Lock()
		asking, seen, witness, changed := s.asking, s.seen, s.witness, s.changed
		s.mu.Unlock()
		switch {
		case witness != nil && ledger.Position(seen.Size) >= at: //nolint:gosec // never negative
			return seen, witness, nil
		case !asking || ctx.Err() != nil:
			return c, msg, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (s *Store) await(ctx context.Context, at ledger.Position) (proof.Checkpoint, []byte, error) {
	s.mu.Lock()
	s.waiting++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
	}()
	for {
		s.mu.Lock()
		c, msg, found, changed, inTree := s.signed, s.note, s.found, s.changed, ledger.Position(s.tree.Size()) >= at //nolint:gosec // never negative
		s.mu.Unlock()
		switch {
		case msg != nil && ledger.Position(c.Size) >= at: //nolint:gosec // never negative
			return c, msg, nil
		case found != nil:
			return c, nil, found
		}
		if inTree {
			select {
			case s.hurry <- struct{}{}:
			default:
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return c, nil, ctx.Err()
		}
	}
}
