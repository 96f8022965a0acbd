package policies

import (
	"context"
	"sync"

	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/routing"
)

// Embedders are the embedders that policies name. They are safe for concurrent use.
type Embedders struct {
	store *Store
	make  func(policy.Embeddings) (routing.Embedder, error)

	mu   sync.Mutex
	kept map[string]keptEmbedder // by workspace
}

type keptEmbedder struct {
	config   policy.Embeddings
	embedder routing.Embedder
}

// NewEmbedders returns the embedders of the policies of a store, which are made by a function; nil: there are none.
func NewEmbedders(s *Store, embedder func(policy.Embeddings) (routing.Embedder, error)) *Embedders {
	return &Embedders{store: s, make: embedder, kept: map[string]keptEmbedder{}}
}

// Of returns the embedder that the policy of a workspace names; nil if it names none. One that was made is kept as long as its
// configuration stays. One that cannot be made fails at every call, with the reason.
func (es *Embedders) Of(workspace string) routing.Embedder {
	p := es.store.InMemory(workspace)
	es.mu.Lock()
	defer es.mu.Unlock()
	have, kept := es.kept[workspace]
	named := p != nil && p.Embeddings != nil && es.make != nil
	switch {
	case kept && named && have.config == *p.Embeddings:
		return have.embedder
	case kept:
		closeEmbedder(have.embedder)
		delete(es.kept, workspace)
	}
	if !named {
		return nil
	}
	made, err := es.make(*p.Embeddings)
	if err != nil {
		return noEmbedder{p.Embeddings.Model, err}
	}
	es.kept[workspace] = keptEmbedder{*p.Embeddings, made}
	return made
}

// Close closes the embedders that were made. Call it when nothing asks for them any more.
func (es *Embedders) Close() {
	es.mu.Lock()
	defer es.mu.Unlock()
	for _, k := range es.kept {
		closeEmbedder(k.embedder)
	}
	clear(es.kept)
}

// closeEmbedder closes an embedder that holds something: connections or a program.
func closeEmbedder(e routing.Embedder) {
	if c, ok := e.(interface{ Close() }); ok {
		c.Close()
	}
}

// noEmbedder is an embedder that cannot be had.
type noEmbedder struct {
	space string
	err   error
}

func (n noEmbedder) Space() string { return n.space }

func (noEmbedder) Least() float64 { return 1 }

func (n noEmbedder) Query(context.Context, string) ([]float32, error) { return nil, n.err }

func (n noEmbedder) Texts(context.Context, []string) ([][]float32, error) { return nil, n.err }
