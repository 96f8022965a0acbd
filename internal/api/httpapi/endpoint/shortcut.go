package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/shape"
	"github.com/trapezehq/trapeze/internal/domain/fastjson"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// shortcut serves plain calls without huma, in a third of its time. A call is plain if it has no parameters but its path and
// idempotency key, is JSON in and out, and has a body of known, usual length that certainly satisfies its schema; nearly every call is.
// Every other call goes to huma unchanged: nothing is refused here before the use case is called, so that there is one place
// for refusals of malformed calls.
type shortcut struct {
	withBody
	d        *Router
	status   int          // of success
	shape    *shape.Shape // schema of the body
	required bool
	ready    func() // completes it, when the operation is registered
}

// withBody is a use case that takes a body, and possibly an id. Its types are values here, since generic code is compiled for each of them.
type withBody struct {
	in, out reflect.Type
	decode  func(body []byte) (in any, err error) // an empty body is the zero value
	call    func(ctx context.Context, c caller.Caller, id string, in any) (any, error)
}

func bodyOf[B, O any](fn func(ctx context.Context, c caller.Caller, id string, in *B) (O, error)) withBody {
	return withBody{
		in: reflect.TypeFor[B](), out: reflect.TypeFor[O](),
		decode: func(body []byte) (any, error) {
			in := new(B)
			if len(body) == 0 {
				return in, nil
			}
			return in, fastjson.Unmarshal(identity.BareAgents(body), in)
		},
		call: func(ctx context.Context, c caller.Caller, id string, in any) (any, error) {
			b, ok := in.(*B)
			if !ok {
				return nil, fmt.Errorf("input of type %T", in) // which decode does not make
			}
			return fn(ctx, c, id, b)
		},
	}
}

// decoded calls the use case with a body that satisfies its schema.
func (p *withBody) decoded(ctx context.Context, c caller.Caller, id string, body []byte) (any, error) {
	in, err := p.decode(body)
	isDecoded(ctx)
	if err != nil {
		return nil, Malformed(http.StatusUnprocessableEntity, "validation failed", []error{&huma.ErrorDetail{Location: "body", Message: err.Error()}})
	}
	return p.call(ctx, c, id, in)
}

// maxPlain is the maximum size of a body here, in bytes: it is read into memory before it is checked.
const maxPlain = maxPooled

// withBody returns the operation of a use case that takes a body, with its shortcut. When the operation is registered, the caller calls
// ready.
func (d *Router) withBody(r Route, use withBody) (huma.Operation, *shortcut) {
	op := d.Operation(r)
	op.RequestBody = &huma.RequestBody{Content: d.media(use.in, op.OperationID+"Request")}
	d.describeAnswer(&op, use.out)
	p := &shortcut{withBody: use, d: d, status: cmp.Or(op.DefaultStatus, http.StatusOK)}
	d.shortcuts[op.OperationID] = p
	p.ready = func() {
		made := shape.NewMaker(d.api.OpenAPI().Components.Schemas)
		p.shape, p.required = made.Of(op.RequestBody.Content[jsonMedia].Schema), op.RequestBody.Required
	}
	return op, p
}

// maxCounted is the size of the largest answer whose length net/http tells by itself, in bytes: it has a buffer of that size.
const maxCounted = 2 << 10

const jsonMedia = "application/json"

var jsonMedias = []string{jsonMedia}

// take serves a call, or has next serve it.
func (p *shortcut) take(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	id, key := r.PathValue("id"), r.Header.Get("Idempotency-Key")
	if !usual(r) || prefersReceipt(r) || len(id) > 80 || len(key) > 200 || r.ContentLength == 0 && p.required {
		next(w, r)
		return
	}
	b := takeBuffer()
	defer giveBuffer(b)
	fault := readBody(b, w, r)
	var in any
	fits := false
	if fault == nil {
		in, fits = p.read(b.Bytes())
	}
	if !fits {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(b.Bytes()), failing{fault}))
		next(w, r)
		return
	}
	isDecoded(r.Context())
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
	answer := identity.BareAgents(b.Bytes())
	h := w.Header()
	h["Content-Type"] = jsonMedias
	if len(answer) > maxCounted {
		h["Content-Length"] = []string{strconv.Itoa(len(answer))}
	}
	if at := positionOf(out); at != "" {
		h["Trapeze-Position"] = []string{string(at)}
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(answer) // the client is gone
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

// read decodes a body, and reports whether it certainly satisfies its schema.
func (p *shortcut) read(body []byte) (in any, fits bool) {
	if len(body) == 0 {
		in, _ = p.decode(nil)
		return in, !p.required
	}
	if !utf8.Valid(body) {
		return nil, false
	}
	in, err := p.decode(body)
	return in, err == nil && p.shape.Fits(body)
}

// failing is the end of a body, with its error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil || errors.Is(f.err, io.EOF) {
		return 0, io.EOF
	}
	return 0, f.err
}
