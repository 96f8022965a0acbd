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
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// shortcut is the short way through the door, for plain calls. A call is plain if it has no parameters but those of its
// path and its key, is of JSON in and out, and has a body of known, usual length that fits the description beyond doubt;
// nearly every call is. It is read, made and answered here, at a third of what huma takes. Every other call goes on to
// huma as it came: nothing is refused here before the use case is called, so that what is wrong with a call is said in
// one place and one way.
type shortcut[B, O any] struct {
	d        *Door
	status   int          // of success
	body     *shape.Shape // what the description says of it
	required bool
	call     func(ctx context.Context, c caller.Caller, id string, in B) (O, error)
}

// maxPlain is the longest body, in bytes, that is taken here: it is read into memory before it is looked at.
const maxPlain = maxPooled

// through puts the short way before an operation that takes a body, which must then be registered. The function returned
// ends the preparation.
func through[B, O any](d *Door, op *huma.Operation, call func(ctx context.Context, c caller.Caller, id string, in B) (O, error)) (ready func()) {
	p := &shortcut[B, O]{d: d, status: op.DefaultStatus, call: call}
	if p.status == 0 {
		p.status = http.StatusOK
	}
	if op.RequestBody == nil {
		op.RequestBody = &huma.RequestBody{}
	}
	described := op.RequestBody // huma describes it in place
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
	b.Reset() // the input holds nothing of it
	if err := encodeAnswer(b, out); err != nil {
		p.d.Internal(r.Context(), err).Write(w)
		return
	}
	h := w.Header()
	h["Content-Type"] = jsonMedias
	h["Content-Length"] = []string{strconv.Itoa(b.Len())}
	h["Trapeze-Position"] = []string{strconv.FormatUint(positionOf(out), 10)}
	w.WriteHeader(p.status)
	_, _ = w.Write(b.Bytes()) // the client is gone
}

// encodeAnswer is encode, but copies the envelope of an acceptance as it is: it is compact, and most of the answer.
func encodeAnswer(b *bytes.Buffer, v any) error {
	got, _ := v.(tasks.Accepted)
	if got.Content == nil || len(got.Content.Envelope) == 0 {
		return encode(b, v)
	}
	sheet, around := *got.Content, takeBuffer()
	defer giveBuffer(around)
	raw := sheet.Envelope
	sheet.Envelope, got.Content = json.RawMessage("0"), &sheet
	if err := encode(around, got); err != nil {
		return err
	}
	before, after, _ := bytes.Cut(around.Bytes(), []byte(`"envelope":0`)) // a quote within a text is escaped
	b.Write(before)
	b.WriteString(`"envelope":`)
	b.Write(raw)
	b.Write(after)
	return nil
}

// usual reports whether all but the body of a call is as most clients send it.
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
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // where there is none to set, the server's own counts
	b.Grow(int(r.ContentLength))
	body := b.AvailableBuffer()[:r.ContentLength]
	n, err := io.ReadFull(r.Body, body)
	b.Write(body[:n])
	if err != nil {
		_ = r.Body.Close() // at once, as the deadline is over: huma sets another, and the answer would wait for the rest until then
	}
	_ = control.SetReadDeadline(time.Time{})
	return err
}

// read is whether the body is certain to be right; the input is then filled.
func (p *shortcut[B, O]) read(body []byte, in *B) bool {
	if len(body) == 0 {
		return !p.required
	}
	return utf8.Valid(body) && json.Unmarshal(body, in) == nil && p.body.Fits(body)
}

// failing ends a body as it ended before.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil || errors.Is(f.err, io.EOF) {
		return 0, io.EOF
	}
	return 0, f.err
}
