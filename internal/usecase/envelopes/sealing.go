package envelopes

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// Tasks are the streams of tasks, in which envelopes are kept.
type Tasks = stream.Kind[task.Task, event.Event]

// Sealer makes the envelopes of one ledger's tasks. Its methods are safe for many goroutines.
type Sealer struct {
	ledger ledger.Ledger
	tasks  Tasks
	from   Sources
	kept   *stream.ByteCache
	fits   simplelru.LRUCache[asIs, figures]
}

// fittings bounds what is remembered of envelopes that fit as they are.
const fittings = 4096

// Sources are where a sealer finds what goes into an envelope beside the task and its sender's words.
type Sources struct {
	*agents.Roster
	*artifacts.Shelf
	*memories.Base
}

// New returns a sealer that keeps so many bytes of sealed envelopes in memory.
func New(l ledger.Ledger, tasks Tasks, from Sources, kept int) (*Sealer, error) {
	fits, err := lru.New[asIs, figures](fittings)
	if err != nil {
		return nil, err
	}
	return &Sealer{ledger: l, tasks: tasks, from: from, kept: stream.NewByteCache(kept), fits: fits}, nil
}

// taskStream is where the envelopes of a task are.
func taskStream(workspace, task string) ledger.Stream {
	return ledger.StreamOf(workspace, "task", task)
}

// seal makes the envelope immutable and remembers it: it is about to be read.
func (s *Sealer) seal(doc envelope.Envelope) (event.Sealed, error) {
	salt := make([]byte, 16)
	if err := s.from.Random(salt); err != nil {
		return event.Sealed{}, err
	}
	sealed, err := envelope.Seal(doc, salt)
	if err != nil {
		return event.Sealed{}, err
	}
	s.kept.Put(sealed.Digest, sealed.Bytes)
	return event.Sealed{Digest: sealed.Digest, Parent: doc.Parent, Bytes: sealed.Bytes}, nil
}

// Bytes are those of one of a task's sealed envelopes. The refusal, where there is none of that digest, is not_found.
func (s *Sealer) Bytes(ctx context.Context, workspace, task, digest string) ([]byte, error) {
	if b, ok := s.kept.Get(digest); ok {
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
	if found == nil {
		return nil, refusal.New(refusal.NotFound, "look at the task for its envelopes", "task %s has no envelope %.80s", task, digest)
	}
	s.kept.Put(digest, found)
	return found, nil
}

// sealed is an envelope as the record has it. source is the digest of what it is a rendition of; empty for a source.
// Where an envelope was given as it is, there are no bytes, and what it took stands in packing.
type sealed struct {
	digest, source string
	bytes          []byte
	packing        envelope.Packing
}

// each goes through every envelope of a task, oldest first.
func (s *Sealer) each(ctx context.Context, workspace, task string, fn func(sealed) error) error {
	return stream.Each(ctx, s.ledger, taskStream(workspace, task), func(e ledger.Entry) error {
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
				err = fn(sealed{digest: d.Digest, bytes: d.Bytes})
			case event.Rendered:
				err = fn(sealed{digest: d.Digest, source: d.Source, bytes: d.Bytes, packing: envelope.Packing{
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
