package openai

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
)

// EmbedOptions are a model that turns texts into vectors. Zero fields mean the default.
type EmbedOptions struct {
	Endpoint string        // base URL; https, or http on this machine
	Model    string        // its name there
	Key      string        // sent as a bearer token; empty: none
	Timeout  time.Duration // of the vector of a query; default 500 ms, at most 5 s
	Least    float64       // the similarity from which on texts are about the same; default 0.25
	// Failures in a row after which queries are not sent for OpenFor; defaults 2 and 30 s.
	Failures int
	OpenFor  time.Duration
	Now      func() time.Time // nil means time.Now
	TLS      *tls.Config      // nil means the system's roots
}

// Bounds of vectors.
const (
	maxQueryTimeout = 5 * time.Second
	textsTimeout    = time.Minute // of the vectors of a batch, which nobody waits for
	maxDimension    = 4096
	maxVectors      = 4 << 20 // bytes of an answer
)

// Embedder asks one model for vectors.
type Embedder struct {
	*endpoint
	opts EmbedOptions

	mu       sync.Mutex
	failures int       // of queries, in a row
	openTill time.Time // queries are not sent until then
}

var _ routing.Embedder = (*Embedder)(nil)

// NewEmbedder returns an embedder. It makes no call. Refusals: invalid.
func NewEmbedder(o EmbedOptions) (*Embedder, error) {
	if o.Timeout == 0 {
		o.Timeout = 500 * time.Millisecond
	}
	if o.Least == 0 {
		o.Least = 0.25
	}
	if o.Failures == 0 {
		o.Failures = 2
	}
	if o.OpenFor == 0 {
		o.OpenFor = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout < 0 || o.Timeout > maxQueryTimeout {
		return nil, refusal.New(refusal.Invalid, "use a time up to 5s", "the timeout is out of bounds")
	}
	u, err := Options{Endpoint: o.Endpoint, Model: o.Model, Key: o.Key}.address()
	if err != nil {
		return nil, err
	}
	return &Embedder{endpoint: newEndpoint(u.JoinPath("embeddings"), o.Key, o.Timeout, o.Now, o.TLS), opts: o}, nil
}

// Space implements [routing.Embedder].
func (e *Embedder) Space() string { return e.opts.Model }

// Least implements [routing.Embedder].
func (e *Embedder) Least() float64 { return e.opts.Least }

// Query implements [routing.Embedder]. It fails at once for a while after failures. Refusals: unavailable.
func (e *Embedder) Query(ctx context.Context, text string) ([]float32, error) {
	e.mu.Lock()
	open := e.failures >= e.opts.Failures && e.opts.Now().Before(e.openTill)
	e.mu.Unlock()
	if open {
		return nil, unavailable("the model failed %d times in a row and is not asked for a while", e.opts.Failures)
	}
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	list, err := e.embed(ctx, []string{text})
	if errors.Is(ctx.Err(), context.Canceled) { // the caller has gone
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.failures++
		e.openTill = e.opts.Now().Add(e.opts.OpenFor)
		return nil, err
	}
	e.failures = 0
	return list[0], nil
}

// Texts implements [routing.Embedder]. Refusals: unavailable.
func (e *Embedder) Texts(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, textsTimeout)
	defer cancel()
	return e.embed(ctx, texts)
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.opts.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, unavailable("the texts cannot be sent")
	}
	answer, _, f := e.post(ctx, body, maxVectors)
	if f != nil {
		return nil, f.Error
	}
	return vectors(answer, len(texts))
}

// vectors reads an answer with so many vectors, or refuses (unavailable) it.
func vectors(answer []byte, n int) ([][]float32, error) {
	var a struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, unavailable("the model's answer is not a list of embeddings: %s", refusal.Clip(err.Error(), 200))
	}
	if len(a.Data) != n {
		return nil, unavailable("the model's answer has %d embeddings for %d texts", len(a.Data), n)
	}
	list := make([][]float32, n)
	for _, d := range a.Data {
		var square float64
		for _, x := range d.Embedding {
			square += float64(x) * float64(x)
		}
		switch {
		case d.Index < 0 || d.Index >= n || list[d.Index] != nil:
			return nil, unavailable("the model's answer numbers an embedding %d", d.Index)
		case len(d.Embedding) == 0 || len(d.Embedding) > maxDimension || len(d.Embedding) != len(a.Data[0].Embedding):
			return nil, unavailable("the model's answer has an embedding of %d numbers", len(d.Embedding))
		case !(square > 0) || math.IsInf(square, 0):
			return nil, unavailable("the model's answer has an embedding without a direction")
		}
		list[d.Index] = d.Embedding
	}
	return list, nil
}
