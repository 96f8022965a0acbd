package seal

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

const (
	writing = 8 << 10 // the number of streams whose keys are kept in memory: one that comes back later gets another key
	reading = 8 << 10 // the number of keys that are kept in memory for reading
)

// Sealer seals the content of entries, each stream under keys of its own. It implements [ledger.Sealer].
type Sealer struct {
	keys    *KeyFile
	streams cache[ledger.Stream]
	known   cache[string]
	erased  atomic.Uint64 // how often keys were destroyed
}

var _ ledger.Sealer = (*Sealer)(nil)

// cache is the part of an LRU cache that is used here.
type cache[K comparable] interface {
	Get(key K) (slot, bool)
	Add(key K, s slot) (evicted bool)
	Remove(key K) (there bool)
	Purge()
}

// New returns a sealer with the keys of a file.
func New(keys *KeyFile) (*Sealer, error) {
	streams, err := lru.New[ledger.Stream, slot](writing)
	if err != nil {
		return nil, err
	}
	known, err := lru.New[string, slot](reading)
	if err != nil {
		return nil, err
	}
	return &Sealer{keys: keys, streams: streams, known: known}, nil
}

// outline returns the events of an entry without their content, and whether they had any.
func outline(e *ledger.Entry) (list []json.RawMessage, has bool) {
	for i := range e.Events {
		if contents[e.Events[i].Name] != nil {
			has = true
		}
	}
	if !has {
		return nil, false
	}
	has = false
	list = make([]json.RawMessage, len(e.Events))
	for i := range e.Events {
		list[i] = e.Events[i].Data
		if paths := contents[e.Events[i].Name]; paths != nil && len(list[i]) > 0 {
			var found bool
			list[i], found = paths.Hide(list[i])
			has = has || found
		}
	}
	return list, has
}

// HasContent reports whether an entry has content, which is readable in the record if the entry is not sealed.
func HasContent(e ledger.Entry) bool {
	_, has := outline(&e)
	return has
}

// Seal implements [ledger.Sealer].
func (s *Sealer) Seal(e ledger.Entry) (ledger.Entry, error) {
	list, has := outline(&e)
	if !has {
		return e, nil
	}
	key, ok := s.streams.Get(e.Stream)
	if !ok {
		var err error
		if key, err = s.keys.take(); err != nil {
			return e, fmt.Errorf("%w: no key could be made: %w", ledger.ErrUnavailable, err)
		}
		s.streams.Add(e.Stream, key)
	}
	return e.Seal(key.id, list, func(payload, bound []byte) []byte { return lock(key.aead, payload, bound) })
}

// Open implements [ledger.Sealer].
func (s *Sealer) Open(e ledger.Entry) (ledger.Entry, error) {
	key, ok := s.known.Get(e.KeyID)
	if !ok {
		var gone *destroyed
		var err error
		before := s.erased.Load()
		if key, gone, err = s.keys.find(e.KeyID); err != nil {
			return e, err
		}
		if gone != nil {
			return e.Note(Note(gone.at, gone.by)), nil
		}
		s.known.Add(e.KeyID, key)
		if s.erased.Load() != before { // it may have been destroyed since it was found
			s.known.Remove(e.KeyID)
		}
	}
	return e.Unseal(func(sealed, bound []byte) ([]byte, error) { return unlock(key.aead, sealed, bound) })
}

// Note is the text that stands where content was erased.
func Note(at time.Time, by string) string {
	return fmt.Sprintf("erased on %s by %s", at.UTC().Format(time.DateOnly), by)
}

// Destroy destroys keys of streams, durably: what was encrypted under them cannot be read any more. What is recorded of the streams from now on gets
// other keys. Destroying them again changes nothing.
func (s *Sealer) Destroy(streams []ledger.Stream, ids []string, at time.Time, by string) error {
	for _, of := range streams {
		s.streams.Remove(of)
	}
	err := s.keys.destroy(ids, at, by)
	s.erased.Add(1)
	for _, id := range ids {
		s.known.Remove(id)
	}
	return err
}

// Has reports whether there is a key, which was not destroyed. One that is damaged or missing counts as there.
func (s *Sealer) Has(id string) bool {
	_, gone, _ := s.keys.find(id)
	return gone == nil
}

// Close closes the key file.
func (s *Sealer) Close() error { return s.keys.Close() }
