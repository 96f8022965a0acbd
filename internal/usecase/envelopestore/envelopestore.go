package envelopestore

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Store is the sealed envelopes in the streams of one ledger's tasks. Its methods are safe for many goroutines.
type Store struct {
	ledger ledger.Ledger
	tasks  *taskstore.Store
	cache  *stream.ByteCache
	points *pointCache
}

// New returns the sealed envelopes of tasks, of which it keeps at most so many bytes in memory.
func New(l ledger.Ledger, tasks *taskstore.Store, cached int) *Store {
	return &Store{ledger: l, tasks: tasks, cache: stream.NewByteCache(cached), points: newPointCache(pointSets, maxPoints)}
}

// Remember keeps the bytes of an envelope in memory that was sealed just now: it is about to be read.
func (s *Store) Remember(digest string, b []byte) { s.cache.Put(digest, b) }

// Purge empties the memory.
func (s *Store) Purge() {
	s.cache.Purge()
	s.points.purge()
}

// Bytes are those of one of a task's sealed envelopes. The refusal, where there is none of that digest, is not_found.
func (s *Store) Bytes(ctx context.Context, workspace, task, digest string) ([]byte, error) {
	if b, ok := s.cache.Get(digest); ok {
		return b, nil
	}
	var found []byte
	err := s.each(ctx, workspace, task, func(e sealed) error {
		if e.digest == digest && e.bytes != nil {
			found = e.bytes
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if note, erased := erasedNote(found); erased {
		return nil, refusal.New(refusal.NotFound, "what happened and when is still [in the record](audit show)", "the envelope %.80s of task %s was %s", digest, task, note)
	}
	if found == nil {
		return nil, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its handoffs", "task %s has no envelope %.80s", task, digest)
	}
	s.cache.Put(digest, found)
	return found, nil
}

// OfHandoff are the digests of what was sent with a handoff of a task and of what was packed for its last receiver, empty if nothing was,
// as they were when the next handoff was requested.
func (s *Store) OfHandoff(ctx context.Context, workspace, id string, n int) (source, rendition string, err error) {
	var t task.Task
	err = stream.Each(ctx, s.ledger, taskstore.StreamOf(workspace, id), func(e ledger.Entry) error {
		for _, ev := range e.Events {
			d, err := s.tasks.Codec().Decode(ev)
			if err != nil {
				return err
			}
			if t = task.Fold(t, d); t.Handoff != nil && t.Handoff.N == n {
				source, rendition = t.Handoff.Envelope, t.Handoff.Rendition
			}
		}
		return nil
	})
	return source, rendition, err
}

// Open is one of the sealed envelopes of a task.
func (s *Store) Open(ctx context.Context, workspace, task, digest string) (envelope.Envelope, error) {
	b, err := s.Bytes(ctx, workspace, task, digest)
	if err != nil {
		return envelope.Envelope{}, err
	}
	doc, _, err := envelope.Open(b)
	return doc, err
}

// sealed is an envelope as the record has it. source is the digest of what it is a rendition of; empty for a source.
// Where an envelope was given as it is, there are no bytes, and what it took stands in packing.
type sealed struct {
	digest, source string
	bytes          []byte
	packing        envelope.Packing
	entry          ledger.Entry
	aside          bool // made for the reader of a share, or for those that do parts of the task
}

// each goes through every envelope of a task, oldest first.
func (s *Store) each(ctx context.Context, workspace, task string, fn func(sealed) error) error {
	return stream.Each(ctx, s.ledger, taskstore.StreamOf(workspace, task), func(e ledger.Entry) error {
		aside, err := s.aside(e)
		if err != nil {
			return err
		}
		for _, ev := range e.Events {
			if ev.Name != (event.Sealed{}).EventName() && ev.Name != (event.Rendered{}).EventName() {
				continue
			}
			d, err := s.tasks.Codec().Decode(ev)
			if err != nil {
				return err
			}
			switch d := d.(type) {
			case event.Sealed:
				err = fn(sealed{digest: d.Digest, bytes: d.Bytes, entry: e, aside: slices.Contains(aside, d.Digest)})
			case event.Rendered:
				err = fn(sealed{digest: d.Digest, source: d.Source, bytes: d.Bytes, entry: e, packing: envelope.Packing{
					Budget: d.Budget, Tokens: d.Tokens, Estimate: d.Estimate, Utilisation: d.Utilisation, Completeness: d.Completeness,
				}})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// erasedNote is what stands where an envelope was erased, when and by whom, and whether it was.
func erasedNote(b []byte) (note string, erased bool) {
	if len(b) == 0 || b[0] != '"' { // an envelope is an object
		return "", false
	}
	return note, json.Unmarshal(b, &note) == nil
}

// aside are the digests of what an entry shares or delegates.
func (s *Store) aside(e ledger.Entry) (digests []string, err error) {
	for _, ev := range e.Events {
		if ev.Name != (event.Shared{}).EventName() && ev.Name != (event.Spawned{}).EventName() {
			continue
		}
		d, err := s.tasks.Codec().Decode(ev)
		if err != nil {
			return nil, err
		}
		switch d := d.(type) {
		case event.Shared:
			digests = append(digests, d.Envelope)
		case event.Spawned:
			digests = append(digests, d.Envelope)
		}
	}
	return digests, nil
}
