package treefile

import (
	"fmt"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Finding is what is wrong with the record or with its tree.
type Finding struct {
	Position ledger.Position // the first one; 0: it cannot be told
	What     string
}

func (f *Finding) Error() string {
	if f.Position == 0 {
		return fmt.Sprintf("proof: %s. Nothing was overwritten: run trapeze verify on a copy of the data directory, and restore it from a backup", f.What)
	}
	return fmt.Sprintf("proof: position %d: %s. Nothing was overwritten: run trapeze verify on a copy of the data directory, and restore it from a backup", f.Position, f.What)
}

// find keeps the first finding.
func (s *Store) find(f Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found != nil {
		return
	}
	s.found = &f
	s.wake()
	s.o.Log.Error("THE RECORD AND ITS TREE DIFFER", "position", f.Position, "what", f.What)
}

// Err is nil while nothing was found that is wrong with the record or the tree.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found == nil {
		return nil
	}
	return s.found
}
