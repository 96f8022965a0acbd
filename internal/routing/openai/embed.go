package openai

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
)

// EmbedOptions are a model that turns texts into vectors. Zero fields mean the default.
type EmbedOptions struct {
	Endpoint string        // base URL; https, or http on this machine
	Command  []string      // instead: a program on this machine with its arguments, which reads requests and writes answers as lines
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
	maxQueries      = 8       // at the same time
)

// Embedder asks one model for vectors.
type Embedder struct {
	transport
	opts    EmbedOptions
	space   string
	batch   int           // texts in a request
	queries chan struct{} // those in progress

	mu       sync.Mutex
	failures int       // of queries, in a row
	openTill time.Time // queries are not sent until then
}

// transport carries requests to a model, as [endpoint] does.
type transport interface {
	post(ctx context.Context, body []byte, most int) (answer []byte, billed bool, f *failure)
	Close()
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
	e := &Embedder{opts: o, queries: make(chan struct{}, maxQueries)}
	if len(o.Command) > 0 {
		// A query waits for one text at most, since a program serves one request at a time.
		e.transport, e.space, e.batch = newProgram(o.Command), o.Model+" of "+strings.Join(o.Command, " "), 1
		return e, nil
	}
	u, err := Options{Endpoint: o.Endpoint, Model: o.Model, Key: o.Key}.address()
	if err != nil {
		return nil, err
	}
	e.transport, e.space, e.batch = newEndpoint(u.JoinPath("embeddings"), o.Key, o.Timeout, o.Now, o.TLS), o.Model+" at "+u.String(), routing.EmbedBatch
	return e, nil
}

// Space implements [routing.Embedder]: the model and its address, since models of one name differ.
func (e *Embedder) Space() string { return e.space }

// Least implements [routing.Embedder].
func (e *Embedder) Least() float64 { return e.opts.Least }

// Query implements [routing.Embedder]. It fails at once for a while after failures. Refusals: limit, invalid, unavailable.
func (e *Embedder) Query(ctx context.Context, text string) ([]float32, error) {
	select {
	case e.queries <- struct{}{}:
		defer func() { <-e.queries }()
	default:
		return nil, refusal.New(refusal.Limit, "try again soon", "%d queries wait for the model", maxQueries)
	}
	e.mu.Lock()
	open := e.failures >= e.opts.Failures && e.opts.Now().Before(e.openTill)
	e.mu.Unlock()
	if open {
		return nil, unavailable("the model failed %d times in a row and is not asked for a while", e.opts.Failures)
	}
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	list, err := e.embed(ctx, []string{text})
	if errors.Is(ctx.Err(), context.Canceled) || refusal.CodeOf(err) == refusal.Invalid { // the caller has gone, or the text is at fault
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

// Texts implements [routing.Embedder]. Refusals: invalid, unavailable.
func (e *Embedder) Texts(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, textsTimeout)
	defer cancel()
	var list [][]float32
	for some := range slices.Chunk(texts, e.batch) {
		vectors, err := e.embed(ctx, some)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && len(vectors[0]) != len(list[0]) {
			return nil, unavailable("the model's answers have embeddings of %d and of %d numbers", len(list[0]), len(vectors[0]))
		}
		list = append(list, vectors...)
	}
	return list, nil
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.opts.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, unavailable("the texts cannot be sent")
	}
	answer, _, f := e.post(ctx, body, maxVectors)
	switch {
	case f != nil && f.refused:
		return nil, refused("%s", f.Message)
	case f != nil:
		return nil, f.Error
	}
	return vectors(answer, len(texts))
}

// refused is the refusal of texts that a model makes no vectors of.
func refused(format string, args ...any) *refusal.Error {
	return refusal.New(refusal.Invalid, "shorten the text", format, args...)
}

// vectors reads an answer with so many vectors, or refuses it: unavailable, or invalid if it says that the texts are at fault.
func vectors(answer []byte, n int) ([][]float32, error) {
	var a struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Refused string `json:"refused"` // by a program
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, unavailable("the model's answer is not a list of embeddings: %s", refusal.Clip(err.Error(), 200))
	}
	if a.Refused != "" {
		return nil, refused("the model refuses the text: %s", refusal.Clip(a.Refused, maxKept))
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
			return nil, refused("the model's answer has an embedding without a direction")
		}
		list[d.Index] = d.Embedding
	}
	return list, nil
}
