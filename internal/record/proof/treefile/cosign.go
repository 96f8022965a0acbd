package treefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

// cosignedWithin is how long a checkpoint waits for cosignatures before it is given without.
const cosignedWithin = 2 * time.Second

// Signed waits for a checkpoint of more than so many entries, and returns the last one. It has nothing signed. Error: of ctx.
func (s *Store) Signed(ctx context.Context, after int64) (proof.Checkpoint, []byte, error) {
	for {
		s.mu.Lock()
		c, msg, changed := s.signed, s.note, s.changed
		s.mu.Unlock()
		if msg != nil && c.Size > after {
			return c, msg, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return c, nil, ctx.Err()
		}
	}
}

// Asking tells that witnesses are asked for cosignatures, which [Store.Await] waits for.
func (s *Store) Asking() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = true
}

// Cosigned keeps the lines with which witnesses cosigned a checkpoint that [Store.Signed] returned. Without lines, nobody waits for cosignatures until
// there are some again. Errors: those of the file system.
func (s *Store) Cosigned(c proof.Checkpoint, msg, lines []byte) error {
	s.mu.Lock()
	s.asking = len(lines) > 0
	if !s.asking {
		s.wake()
		s.mu.Unlock()
		return nil
	}
	s.seen, s.witness = c, slices.Concat(msg, lines)
	whole := s.witness
	s.wake()
	s.mu.Unlock()
	if err := s.keepWitnesses(); err != nil { // before the first lines that they verify
		return err
	}
	return s.write(cosignedName, whole)
}

// keepWitnesses adds the keys of the witnesses to those that are kept. Old ones stay: they verify what was cosigned before.
func (s *Store) keepWitnesses() error {
	b, err := os.ReadFile(filepath.Join(s.dir, witnessesName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("treefile: %w", err)
	}
	list := proof.KeyList(string(b))
	had := len(list)
	for _, key := range s.o.Witnesses {
		if !slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	if len(list) == had {
		return nil
	}
	return s.write(witnessesName, []byte(strings.Join(list, "\n")+"\n"))
}
