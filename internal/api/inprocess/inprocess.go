package inprocess

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// maxBuffered is how much of a response is buffered before it is returned, in bytes: a large artifact is never in memory.
const maxBuffered = 64 << 10

// Transport sends requests to a handler in the same process, without a socket. A response is returned when the handler ends, flushes,
// or has written more than 64 KiB; the rest of its body streams.
func Transport(h http.Handler) http.RoundTripper { return transport{h} }

type transport struct{ handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (i transport) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	in.RemoteAddr = "in process"
	if in.Body == nil {
		in.Body = http.NoBody
	}
	body, out := io.Pipe()
	w := &writer{header: http.Header{}, body: out, begun: make(chan struct{})}
	go func() {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler: // the response is incomplete
				w.end(io.ErrUnexpectedEOF)
			default:
				panic(p)
			}
		}()
		i.handler.ServeHTTP(w, in)
		_ = in.Body.Close()
		w.end(io.EOF)
	}()
	select {
	case <-w.begun:
	case <-r.Context().Done():
		_ = body.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	res := &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: -1, Request: r, Body: &answerBody{PipeReader: body, first: w.first},
	}
	return res, nil
}

// writer is the ResponseWriter of the handler.
type writer struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	begun  chan struct{} // closed when status, sent and first are set

	mu     sync.Mutex
	status int
	sent   http.Header
	first  []byte // what was written before the response was returned
	live   bool
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) {
	if status < http.StatusOK {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent == nil {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.mu.Lock()
	if !w.live && len(w.first)+len(b) <= maxBuffered {
		w.first = append(w.first, b...)
		w.mu.Unlock()
		return len(b), nil
	}
	w.mu.Unlock()
	w.begin()
	return w.body.Write(b)
}

// Flush returns the response to the client, if that has not happened.
func (w *writer) Flush() {
	w.WriteHeader(http.StatusOK)
	w.begin()
}

func (w *writer) begin() {
	w.once.Do(func() {
		w.mu.Lock()
		w.live = true
		w.mu.Unlock()
		close(w.begun)
	})
}

func (w *writer) end(err error) {
	w.WriteHeader(http.StatusOK)
	w.begin()
	_ = w.body.CloseWithError(err)
}

// SetReadDeadline does nothing: there is no connection. [http.ResponseController] calls it.
func (w *writer) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing; see SetReadDeadline.
func (w *writer) SetWriteDeadline(time.Time) error { return nil }

// answerBody is the buffered part of a body, then the part that streams.
type answerBody struct {
	*io.PipeReader
	first []byte
}

func (b *answerBody) Read(p []byte) (int, error) {
	if len(b.first) > 0 {
		n := copy(p, b.first)
		b.first = b.first[n:]
		return n, nil
	}
	return b.PipeReader.Read(p)
}
