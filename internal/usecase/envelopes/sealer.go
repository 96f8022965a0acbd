package envelopes

import (
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/envelopestore"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/random"
)

// fittings is how many envelopes that fit their receiver as they are can be remembered.
const fittings = 4096

// Sealer makes the envelopes of one ledger's tasks. Its methods are safe for many goroutines.
type Sealer struct {
	store     *envelopestore.Store
	agents    *agents.Store
	memories  *memories.Store
	artifacts *artifacts.Artifacts
	random    *random.Source
	fits      simplelru.LRUCache[asIs, figures]
}

// NewSealer returns a sealer whose envelopes are those of a store.
func NewSealer(s *envelopestore.Store, a *agents.Store, m *memories.Store, f *artifacts.Artifacts, r *random.Source) (*Sealer, error) {
	fits, err := lru.New[asIs, figures](fittings)
	if err != nil {
		return nil, err
	}
	return &Sealer{store: s, agents: a, memories: m, artifacts: f, random: r, fits: fits}, nil
}

// seal makes the envelope immutable and remembers it: it is about to be read.
func (s *Sealer) seal(doc envelope.Envelope) (event.Sealed, error) {
	salt := make([]byte, 16)
	if err := s.random.Fill(salt); err != nil {
		return event.Sealed{}, err
	}
	sealed, err := envelope.Seal(doc, salt)
	if err != nil {
		return event.Sealed{}, err
	}
	s.store.Remember(sealed.Digest, sealed.Bytes)
	return event.Sealed{Digest: sealed.Digest, Parent: doc.Parent, Trace: doc.Trace.Parent, Bytes: sealed.Bytes}, nil
}
