package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/trapezehq/trapeze/internal/api/shape"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// shortcut serves plain calls without huma, in a third of its time. A call is plain if it has no parameters but its path and
// idempotency key, is JSON in and out, and has a body of known, usual length that certainly satisfies its schema; nearly every call is.
// Every other call goes to huma unchanged: nothing is refused here before the use case is called, so that there is one place
// for refusals of malformed calls.
type shortcut[B, O any] struct {
	d        *Router
	status   int          // of success
	body     *shape.Shape // its schema
	required bool
	call     func(ctx context.Context, c caller.Caller, id string, in B) (O, error)
}

// maxPlain is the maximum size of a body here, in bytes: it is read into memory before it is checked.
const maxPlain = maxPooled

// through adds the shortcut to an operation with a body, which must then be registered. The returned function completes it.
func through[B, O any](d *Router, op *huma.Operation, call func(ctx context.Context, c caller.Caller, id string, in B) (O, error)) (ready func()) {
	p := &shortcut[B, O]{d: d, status: op.DefaultStatus, call: call}
	if p.status == 0 {
		p.status = http.StatusOK
	}
	if op.RequestBody == nil {
		op.RequestBody = &huma.RequestBody{}
	}
	described := op.RequestBody // huma fills in its schema
	op.Middlewares = append(op.Middlewares, p.take)
	return func() {
		made := shape.NewMaker(d.api.OpenAPI().Components.Schemas)
		p.body, p.required = made.Of(described.Content[jsonMedia].Schema), described.Required
	}
}

const jsonMedia = "application/json"

var jsonMedias = []string{jsonMedia}

func (p *shortcut[B, O]) take(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	id, key := r.PathValue("id"), r.Header.Get("Idempotency-Key")
	if !usual(r) || len(id) > 80 || len(key) > 200 || r.ContentLength == 0 && p.required {
		next(ctx)
		return
	}
	b := takeBuffer()
	defer giveBuffer(b)
	fault := readBody(b, w, r)
	var in B
	if fault != nil || !p.read(b.Bytes(), &in) {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(b.Bytes()), failing{fault}))
		next(ctx)
		return
	}
	out, err := p.call(r.Context(), Caller(r.Context()).WithKey(key), id, in)
	if err != nil {
		p.d.Problem(r.Context(), err).Write(w)
		return
	}
	b.Reset() // the input does not refer to it
	if err := encode(b, out); err != nil {
		p.d.Internal(r.Context(), err).Write(w)
		return
	}
	h := w.Header()
	h["Content-Type"] = jsonMedias
	h["Content-Length"] = []string{strconv.Itoa(b.Len())}
	h["Trapeze-Position"] = []string{strconv.FormatUint(uint64(positionOf(out)), 10)}
	w.WriteHeader(p.status)
	_, _ = w.Write(b.Bytes()) // the client is gone
}

// usual reports whether everything but the body of a call is plain.
func usual(r *http.Request) bool {
	is := func(name string, value ...string) bool {
		have := r.Header[name]
		if len(have) == 0 {
			return true
		}
		for _, v := range value {
			if len(have) == 1 && have[0] == v {
				return true
			}
		}
		return false
	}
	return r.URL.RawQuery == "" && r.ContentLength >= 0 && r.ContentLength <= maxPlain &&
		is("Content-Type", jsonMedia) && is("Accept", jsonMedia, "*/*")
}

// readBody reads a body of known length.
func readBody(b *bytes.Buffer, w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength == 0 {
		return nil
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not supported: the deadline of the server applies
	b.Grow(int(r.ContentLength))
	body := b.AvailableBuffer()[:r.ContentLength]
	n, err := io.ReadFull(r.Body, body)
	b.Write(body[:n])
	if err != nil {
		_ = r.Body.Close() // the deadline is over: otherwise huma sets another, and the answer waits for the rest of the body
	}
	_ = control.SetReadDeadline(time.Time{})
	return err
}

// read decodes a body into in, and reports whether it certainly satisfies its schema.
func (p *shortcut[B, O]) read(body []byte, in *B) bool {
	if len(body) == 0 {
		return !p.required
	}
	return utf8.Valid(body) && json.Unmarshal(body, in) == nil && p.body.Fits(body)
}

// failing is the end of a body, with its error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil || errors.Is(f.err, io.EOF) {
		return 0, io.EOF
	}
	return 0, f.err
}
