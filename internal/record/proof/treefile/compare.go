package treefile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// errUnreadable is the error of an entry that cannot be read, in a segment on a disk that fails for example. That says nothing of the entry.
var errUnreadable = errors.New("treefile: an entry cannot be read, and is not compared with the tree")

// compare holds the leaves from one index up to another against the entries of the record. It returns where it stopped: at the end, or at what it
// found. Errors: those of the ledger and of the file.
func (s *Store) compare(ctx context.Context, l ledger.Ledger, from, to int64) (int64, error) {
	for from < to {
		entries, err := l.Read(ctx, ledger.Position(from), int(min(page, to-from))) //nolint:gosec // never negative
		rerr := err
		damaged, isDamaged := errors.AsType[*ledger.Damaged](err)
		if err != nil && !isDamaged {
			return from, err
		}
		want, err := s.leaves(from, to)
		if err != nil {
			return from, err
		}
		for _, e := range entries {
			for ; from < to && ledger.Position(from+1) < e.Position; from, want = from+1, want[1:] { //nolint:gosec // never negative
				if !s.same(from, proof.Gap, want[0], "the entry is missing") {
					return from, nil
				}
			}
			if from >= to {
				return from, nil
			}
			if !s.same(from, proof.Leaf(e), want[0], "the entry is not the one that was acknowledged") {
				return from, nil
			}
			from, want = from+1, want[1:]
		}
		away, isAway := ledger.AsPutAway(rerr)
		switch {
		case isAway && from < to:
			if !s.same(from, away.Leaf, want[0], "the entry that was put away is not the one that was acknowledged") {
				return from, nil
			}
			from++
		case isDamaged && proof.IsUnfinished(rerr):
			return from, fmt.Errorf("%w: %w", errUnreadable, rerr)
		case isDamaged:
			s.find(Finding{Position: damaged.Position, What: damaged.Error()})
			return from, nil
		case len(entries) == 0: // a read of a distributed ledger may lag
			return from, nil
		}
	}
	return from, nil
}

// leaves reads the leaves from one index up to another, at most a page of them and the gaps between.
func (s *Store) leaves(from, to int64) ([]proof.Hash, error) {
	indexes := make([]int64, 0, to-from)
	for n := from; n < to; n++ {
		indexes = append(indexes, tlog.StoredHashIndex(0, n))
	}
	return s.ReadHashes(indexes)
}

func (s *Store) same(n int64, leaf, stored proof.Hash, what string) bool {
	if leaf == stored {
		return true
	}
	s.find(Finding{Position: ledger.Position(n + 1), What: what}) //nolint:gosec // never negative
	return false
}

// scan compares all leaves with the record once, and the nodes above them, slowly.
func (s *Store) scan(ctx context.Context, l ledger.Ledger) {
	if s.o.Pace < 0 {
		return
	}
	tick := time.NewTicker(max(page*time.Second/time.Duration(s.o.Pace), time.Millisecond))
	defer tick.Stop()
	end, told := s.size(), ""
	for at, nodes := int64(0), new(proof.Tree); at < end && s.Err() == nil; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		to := min(at+page, end)
		next, err := s.compare(ctx, l, at, to)
		if err == nil && next == to {
			err = s.compareNodes(nodes, to)
		}
		if err != nil {
			if ctx.Err() == nil && err.Error() != told {
				told = err.Error()
				s.o.Log.Warn("comparing the record with its tree", "position", at, "error", err)
			}
			sleep(ctx, pause)
			continue
		}
		at = next
	}
}

// compareNodes makes a tree of the stored leaves, up to an index, and holds the stored nodes against it.
func (s *Store) compareNodes(nodes *proof.Tree, to int64) error {
	for n := nodes.Size(); n < to; n++ {
		first, count := tlog.StoredHashCount(n), tlog.StoredHashCount(n+1)-tlog.StoredHashCount(n)
		indexes := make([]int64, count)
		for i := range indexes {
			indexes[i] = first + int64(i)
		}
		stored, err := s.ReadHashes(indexes)
		if err != nil {
			return err
		}
		for i, h := range nodes.Append(stored[0], nil) {
			if h != stored[i] {
				s.find(Finding{Position: ledger.Position(n + 1), What: fmt.Sprintf("the stored tree is damaged: a node of level %d is not the hash of those below it", i)}) //nolint:gosec // never negative
				return nil
			}
		}
	}
	return nil
}
