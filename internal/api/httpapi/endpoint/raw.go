package endpoint

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

const (
	// AnswerLimit is the maximum duration of a call, including waiting and sending the answer. Without it, a client that does not read
	// would hold the connection forever.
	AnswerLimit = 2 * time.Minute
	// SendLimit is how long a client may take to receive one write of a stream.
	SendLimit = 30 * time.Second
)

// PersonHeader names the person at the client of an agent who makes the call; the token of the agent must name the same person.
const PersonHeader = "Trapeze-Person"

// NoStore is the Cache-Control of every authenticated answer.
var NoStore = []string{"no-store"}

// Raw serves a route whose bodies are not JSON documents. huma only documents it.
func (d *Router) Raw(op huma.Operation, serve func(w http.ResponseWriter, r *http.Request) error) {
	d.raw(op, op.Path, serve)
}

// RawBelow is [Router.Raw] for a route whose last parameter is the whole rest of the path.
func (d *Router) RawBelow(op huma.Operation, serve func(w http.ResponseWriter, r *http.Request) error) {
	d.raw(op, strings.TrimSuffix(op.Path, "}")+"...}", serve)
}

func (d *Router) raw(op huma.Operation, pattern string, serve func(w http.ResponseWriter, r *http.Request) error) {
	problem := &huma.MediaType{Schema: SchemaOf[Problem](d)}
	op.Responses["default"] = &huma.Response{Description: "Error", Content: map[string]*huma.MediaType{"application/problem+json": problem}}
	d.API().AddOperation(&op)
	d.mux.HandleFunc(op.Method+" "+pattern, func(w http.ResponseWriter, r *http.Request) {
		if p := unknownParameter(op, r); p != nil {
			p.Write(w)
			return
		}
		if err := serve(w, r); err != nil {
			d.Problem(r.Context(), err).Write(w)
		}
	})
}

func unknownParameter(op huma.Operation, r *http.Request) *Problem {
	known := map[string]bool{}
	for _, p := range op.Parameters {
		known[p.Name] = p.In == "query"
	}
	for name := range r.URL.Query() {
		if !known[name] {
			return ProblemOf(refusal.New(refusal.Invalid, "see [what this call takes](describe)",
				"%.80q is not a parameter of this call", name))
		}
	}
	return nil
}

// Query describes a query parameter.
func Query(name, about string, schema *huma.Schema) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: about, Schema: schema}
}

// Plain writes a JSON document without huma.
func Plain(w http.ResponseWriter, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h["Cache-Control"] = NoStore
	_ = marshal(w, v) // the client is gone
}

// CutShort aborts a response that has started, so that the client does not take it as complete.
func (d *Router) CutShort(ctx context.Context, what string, err error) {
	d.log.WarnContext(ctx, what+" was interrupted", append([]any{"error", err}, About(ctx)...)...)
	panic(http.ErrAbortHandler)
}

// Skipped logs that an export went on after an entry that cannot be read.
func (d *Router) Skipped(ctx context.Context, position uint64, err error) {
	d.log.ErrorContext(ctx, "an export skipped a damaged entry", append([]any{"position", position, "error", err}, About(ctx)...)...)
}
