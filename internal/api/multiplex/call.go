package multiplex

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client/multiplex"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// maxAnswer is the size of the largest answer, in bytes. Larger ones have a connection of their own, on which they are not held in memory.
const maxAnswer = 16 << 20

// call is a request and its number.
type call struct {
	id uint32
	r  *http.Request
}

// readers are for the heads of requests, which are in memory.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 512) }}

// readRequest reads a request, as net/http does.
func readRequest(message []byte) (*http.Request, error) {
	head, body := multiplex.Split(message)
	b, ok := readers.Get().(*bufio.Reader)
	if !ok {
		b = bufio.NewReaderSize(nil, 512)
	}
	defer readers.Put(b)
	b.Reset(bytes.NewReader(head))
	r, err := http.ReadRequest(b)
	if err != nil {
		return nil, err
	}
	if r.ContentLength != int64(len(body)) {
		return nil, errors.New("the body does not have the length that its head tells")
	}
	r.Body = http.NoBody
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return r, nil
}

// begin has a call handled, or refuses it. It reports whether its number is free.
func (c *conn) begin(ctx context.Context, id uint32, r *http.Request) bool {
	r.Host, r.RemoteAddr, r.TLS = c.host, c.remote, c.tls
	c.mu.Lock()
	calls, taken := len(c.calls), c.calls[id] != nil
	c.mu.Unlock()
	switch {
	case taken:
		return false
	case calls >= maxCalls:
		c.refuse(id, errTooMany)
		return true
	case !strings.HasPrefix(r.URL.Path, "/v1/") || r.URL.Path == multiplex.Path || r.Method == http.MethodHead:
		c.refuse(id, errElsewhere)
		return true
	}
	next := call{id: id}
	ctx, cancel := context.WithCancel(ctx)
	next.r = r.WithContext(ctx)
	c.mu.Lock()
	c.calls[id] = cancel
	c.mu.Unlock()
	c.running.Add(1)
	select {
	case c.idle <- next:
	default:
		go c.work(next)
	}
	return true
}

func (c *conn) refuse(id uint32, why *refusal.Error) {
	a := &answer{header: http.Header{}}
	endpoint.ProblemOf(why).Write(a)
	_ = c.frames.Send(id, a.append) // the client is gone
}

// work handles a call, and then others.
func (c *conn) work(next call) {
	for more := true; more; next, more = <-c.idle {
		c.handle(next)
	}
}

// handle handles a call and sends its answer.
func (c *conn) handle(next call) {
	defer c.running.Done()
	a := &answer{header: make(http.Header, 8)}
	send := a.append
	if !a.from(c.api, next.r) {
		send = func(to []byte) []byte { return to }
	}
	_ = c.frames.Send(next.id, send) // the client is gone
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[next.id]()
	delete(c.calls, next.id)
}

// answer is the [http.ResponseWriter] of a call.
type answer struct {
	header http.Header
	status int
	body   []byte
	long   bool // refused, since it is a stream or too long
}

// from has a handler write the answer, and reports whether it has.
func (a *answer) from(h http.Handler, r *http.Request) (whole bool) {
	defer func() {
		if recover() != nil { // to abort the answer: the guard of the API recovers what else panics
			whole = a.long
		}
		if a.long {
			*a = answer{header: http.Header{}}
			endpoint.ProblemOf(errElsewhere).Write(a)
		}
	}()
	h.ServeHTTP(a, r)
	a.WriteHeader(http.StatusOK)
	return true
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.long = a.long || len(a.body)+len(b) > maxAnswer; a.long {
		return 0, errElsewhere
	}
	a.body = append(a.body, b...)
	return len(b), nil
}

// FlushError refuses a stream. [http.ResponseController] calls it.
func (a *answer) FlushError() error {
	a.long = true
	return errElsewhere
}

// SetReadDeadline does nothing: the request is here. [http.ResponseController] calls it.
func (a *answer) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: the connection has a limit of its own.
func (a *answer) SetWriteDeadline(time.Time) error { return nil }

// append appends the answer as a message of HTTP/1.1.
func (a *answer) append(to []byte) []byte {
	to = append(strconv.AppendInt(append(to, "HTTP/1.1 "...), int64(a.status), 10), " \r\n"...)
	for name, values := range a.header {
		if name == "Content-Length" {
			continue
		}
		for _, v := range values {
			to = append(append(append(append(to, name...), ": "...), oneLine.Replace(v)...), "\r\n"...)
		}
	}
	to = append(strconv.AppendInt(append(to, "Content-Length: "...), int64(len(a.body)), 10), "\r\n\r\n"...)
	return append(to, a.body...)
}

// oneLine is what net/http does to values of headers.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

// ahead reads what was read before the connection changed to the protocol, then the connection, and sets the time for it.
type ahead struct {
	io.Reader
	c *conn
}

// Read implements [io.Reader].
func (a ahead) Read(b []byte) (int, error) {
	a.c.patient()
	return a.Reader.Read(b)
}
