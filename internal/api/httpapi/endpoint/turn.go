package endpoint

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// largeBody is the size of a request body, in bytes, from which those of one principal are decoded in turn: decoding and validating
// it then takes the processor for longer than most calls.
const largeBody = 8 << 10

// inTurn has a call wait for the turn of its caller, and a large request for another before it is decoded, which [isDecoded] ends. The body
// of a large request is read before, so that a slow connection keeps nobody waiting.
func (d *Router) inTurn(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	v := requestOf(r.Context())
	if v == nil || d.turns == nil {
		next(w, r)
		return
	}
	if large := r.ContentLength < 0 || r.ContentLength >= largeBody; large && d.readAhead(w, r) >= largeBody {
		leave, err := d.turns.EnterBody(r.Context(), v.caller)
		if err != nil {
			d.Problem(r.Context(), err).Write(w)
			return
		}
		v.leave = sync.OnceFunc(leave)
		defer v.leave()
	}
	var err error
	if v.pause, err = d.turns.EnterCall(r.Context()); err != nil {
		d.Problem(r.Context(), err).Write(w)
		return
	}
	defer v.pause()
	next(w, r)
}

// readAhead reads a body into memory, as far as it may be long, and puts it back. It returns its size. An error is that of the next read.
func (d *Router) readAhead(w http.ResponseWriter, r *http.Request) int {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not supported: the deadline of the server applies
	b, err := io.ReadAll(io.LimitReader(r.Body, d.maxBody+1))
	rest := io.Reader(r.Body)
	if err != nil {
		_ = r.Body.Close() // the deadline is over: otherwise huma sets another, and the answer waits for the rest of the body
		rest = failing{err}
	}
	_ = control.SetReadDeadline(time.Time{})
	r.Body = body{io.MultiReader(bytes.NewReader(b), rest), r.Body}
	return len(b)
}

// body is a body of which a part was read ahead.
type body struct {
	io.Reader
	closer io.Closer
}

// Close closes the body.
func (b body) Close() error { return b.closer.Close() }

// isDecoded ends the turn of a request, if it has one. What its call does takes turns of its own.
func isDecoded(ctx context.Context) {
	if v := requestOf(ctx); v != nil && v.leave != nil {
		v.leave()
	}
}
