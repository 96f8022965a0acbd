package treefile

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// Names of the files.
const (
	treeName       = "tree"
	checkpointName = "checkpoint"
	cosignedName   = "cosigned"
	witnessesName  = "witnesses"
)

// Options of a store. The zero value is usable.
type Options struct {
	Log *slog.Logger // nil means none
	// Every is the longest time for which entries wait for a checkpoint; 0 means one second.
	Every time.Duration
	// Pace is how many entries a second are compared with the tree while the server runs; 0 means 1,000, negative means none.
	Pace int
	// Volatile omits waiting for the disk, for data that are removed anyway.
	Volatile bool
	// Shared is a key of [NewSharedKey], by which all front ends of one record sign; empty: a key of its own, in the directory. A shared one is not
	// rotated.
	Shared string
	// Witnesses are the public keys of the witnesses that are asked. They are kept beside what they cosign, for those who verify it.
	Witnesses []string
}

// Store is the tree of one ledger. Its methods are safe for many goroutines.
type Store struct {
	dir string
	o   Options

	sealing sync.Mutex // held while a checkpoint or a key is written; taken before mu
	mu      sync.Mutex
	signer  note.Signer
	keys    string
	again   bool // the last checkpoint is signed once more, with another key

	asking  bool // witnesses are asked for cosignatures, and the last that were asked gave some
	seen    proof.Checkpoint
	witness []byte // seen, with its signatures and cosignatures; nil: there is none
	file    *os.File
	tree    *proof.Tree
	signed  proof.Checkpoint
	note    []byte        // signed, with its signatures; nil: there is none yet
	changed chan struct{} // closed at the next checkpoint, when something is found and, if a caller waits, at the next entry
	waiting int           // callers
	found   *Finding
	owned   bool // this process has the ledger, and may write

	buffers struct { // of the goroutine of [Store.Run]
		stored, bytes []byte
		hashes        []proof.Hash
	}

	closed sync.Once
	dirty  chan struct{} // there are entries that no checkpoint has
	hurry  chan struct{} // a caller waits for a checkpoint
}

// Open opens the tree in a directory, which it creates if it is missing. Another process may have it open: nothing is written before
// [Store.Check]. What is found to be wrong with the files is in [Store.Err] and changes nothing. Errors: those of the file system, and of a key that cannot be read.
func Open(dir string, o Options) (_ *Store, err error) {
	o.Every, o.Pace = cmp.Or(o.Every, time.Second), cmp.Or(o.Pace, 1000)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("treefile: %w", err)
	}
	s := &Store{dir: dir, o: o, changed: make(chan struct{}), dirty: make(chan struct{}, 1), hurry: make(chan struct{}, 1)}
	if err := s.openKeys(); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, treeName)
	if s.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil { //nolint:gosec // the path is the operator's
		return nil, fmt.Errorf("treefile: %w", err)
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("treefile: %w", err), s.file.Close())
	}
	return s, nil
}

// load reads the files. It sets found if they do not fit together.
func (s *Store) load() error {
	size, err := s.stored()
	if err != nil {
		return err
	}
	s.note, err = os.ReadFile(filepath.Join(s.dir, checkpointName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.note = nil
	case err != nil:
		return err
	}
	s.tree = new(proof.Tree)
	if s.note != nil {
		if s.signed, err = s.open(s.note); err != nil {
			s.find(Finding{What: fmt.Sprintf("the file %s of the tree is damaged: %v", checkpointName, err)})
			return nil
		}
	}
	if s.signed.Size > size {
		s.find(Finding{Position: ledger.Position(size + 1), What: fmt.Sprintf("the stored tree ends at position %d, before its checkpoint at %d", size, s.signed.Size)}) //nolint:gosec // never negative
		return nil
	}
	if s.tree, err = proof.LoadTree(s.signed.Size, s); err != nil {
		return err
	}
	if s.note != nil && s.tree.Root() != s.signed.Root {
		s.find(Finding{What: fmt.Sprintf("the stored tree is damaged: it does not have the root of its checkpoint at position %d", s.signed.Size)})
		return nil
	}
	return s.loadTail(size)
}

// open verifies a checkpoint of this log.
func (s *Store) open(msg []byte) (proof.Checkpoint, error) {
	keys, err := proof.ParseKeys(s.keys)
	if err != nil {
		return proof.Checkpoint{}, err
	}
	return proof.OpenCheckpoint(msg, keys)
}

// stored is how many leaves the file has whole, and the nodes that they complete.
func (s *Store) stored() (int64, error) {
	info, err := s.file.Stat()
	if err != nil {
		return 0, err
	}
	hashes := info.Size() / tlog.HashSize
	n := hashes/2 + 1 // a tree of n leaves has less than 2n hashes, and at least 2n less the bits of n
	for ; n > 0 && tlog.StoredHashCount(n-1) <= hashes; n++ {
	}
	for ; n > 0 && tlog.StoredHashCount(n) > hashes; n-- {
	}
	return n, nil
}

// loadTail reads the leaves that were written after the last checkpoint. A loss of power can leave zeros in the place of the last ones, or
// a part of them: those are taken from the record again.
func (s *Store) loadTail(size int64) error {
	for s.tree.Size() < size {
		n := s.tree.Size()
		first, count := tlog.StoredHashCount(n), tlog.StoredHashCount(n+1)-tlog.StoredHashCount(n)
		b := make([]byte, count*tlog.HashSize)
		if _, err := s.file.ReadAt(b, first*tlog.HashSize); err != nil {
			return err
		}
		hashes := make([]proof.Hash, count)
		for i := range hashes {
			hashes[i] = proof.Hash(b[i*tlog.HashSize:])
		}
		next := s.tree.Clone()
		want := next.Append(hashes[0], nil)
		zero := false
		for i, h := range hashes {
			zero = zero || h == proof.Hash{}
			if h != want[i] && !zero {
				s.find(Finding{Position: ledger.Position(n + 1), What: "the stored tree is damaged: a node is not the hash of those below it"}) //nolint:gosec // never negative
				return nil
			}
		}
		if zero {
			break
		}
		s.tree = next
	}
	return nil
}

// own prepares the files for writing: it reads them again, since the process that had the ledger before may have written until now, makes a key if there is
// none, and cuts off what a crash left after the last whole leaf. Only one process may do that, and it must have the ledger.
func (s *Store) own() error {
	s.mu.Lock()
	s.signed, s.note, s.found = proof.Checkpoint{}, nil, nil
	s.mu.Unlock()
	if err := errors.Join(s.openKeys(), s.load()); err != nil {
		return err
	}
	if s.signer == nil {
		if err := s.newKey(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owned = true
	if s.found != nil {
		return nil
	}
	return s.file.Truncate(tlog.StoredHashCount(s.tree.Size()) * tlog.HashSize)
}

// ReadHashes implements [tlog.HashReader].
func (s *Store) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if _, err := s.file.ReadAt(hashes[i][:], at*tlog.HashSize); err != nil {
			return nil, fmt.Errorf("treefile: hash %d: %w", at, err)
		}
	}
	return hashes, nil
}

// Acknowledged is the position up to which entries were acknowledged, as far as the tree can tell: a ledger that ends before has lost some.
func (s *Store) Acknowledged() ledger.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ledger.Position(max(s.tree.Size(), s.signed.Size)) //nolint:gosec // never negative
}

// Checkpoint returns the last checkpoint and its signed note, which is nil if there is none yet.
func (s *Store) Checkpoint() (proof.Checkpoint, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signed, s.note
}

// Close signs what is in the tree, and closes the files. Nothing may run any more. Closing again is harmless.
func (s *Store) Close() (err error) {
	s.closed.Do(func() {
		if s.owned {
			err = s.seal()
		}
		err = errors.Join(err, s.file.Close())
	})
	return err
}
