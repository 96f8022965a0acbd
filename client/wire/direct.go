package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// idleTime is how long a connection is kept without a call.
	idleTime = 90 * time.Second
	// maxDirect is the size of a body, in bytes, that is sent directly: it fits into the buffers of a connection, so that an answer that comes before its end is read.
	maxDirect = 64 << 10
)

// direct makes calls over HTTP/1.1, without TLS or a proxy, in the goroutine of the caller. A connection of [http.Transport] has two goroutines of its own: to
// hand each call to them and back takes a third of its processor time. What needs more goes to that: TLS, a proxy, a long body, and a call that must not be made again.
type direct struct {
	*http.Transport
	most int // idle connections of each server

	mu    sync.Mutex
	idle  map[string][]*line // by host, the one that was used last at the end
	sweep *time.Timer        // runs while there are idle ones
}

// line is a connection with its buffers.
type line struct {
	net.Conn
	r     *bufio.Reader
	w     *bufio.Writer
	used  bool // it has answered a call
	since time.Time
}

func newDirect(t *http.Transport) *direct {
	return &direct{Transport: t, most: t.MaxIdleConnsPerHost, idle: map[string][]*line{}}
}

// RoundTrip implements [http.RoundTripper].
func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if !d.takes(r) {
		return d.Transport.RoundTrip(r)
	}
	for {
		l, err := d.take(r)
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(r.Context(), func() { _ = l.SetDeadline(time.Unix(1, 0)) }) // a closed one needs none
		res, err := d.answer(l, r, stop)
		if err == nil {
			return res, nil
		}
		stop()
		_ = l.Close() // nothing is written any more
		if cause := context.Cause(r.Context()); cause != nil {
			return nil, cause
		}
		if !l.used || errors.Is(err, errAnswer) {
			return nil, err
		}
		// The server has closed an idle connection.
		if r.GetBody != nil {
			r = r.WithContext(r.Context()) // a transport may not change the request of its caller
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// takes reports whether a call can be made here.
func (d *direct) takes(r *http.Request) bool {
	if r.URL.Scheme != "http" || r.Body != nil && (r.GetBody == nil || r.ContentLength > maxDirect) || r.Method != http.MethodGet && r.Header.Get("Idempotency-Key") == "" {
		return false
	}
	for _, values := range r.Header {
		for _, v := range values {
			if strings.ContainsFunc(v, func(c rune) bool { return c < ' ' || c == 0x7f }) { // which http.Transport refuses
				return false
			}
		}
	}
	proxy, err := d.Proxy(r)
	return proxy == nil && err == nil
}

// take returns an idle connection, or a new one.
func (d *direct) take(r *http.Request) (*line, error) {
	host := r.URL.Host
	d.mu.Lock()
	if list := d.idle[host]; len(list) > 0 {
		l := list[len(list)-1]
		d.idle[host] = list[:len(list)-1]
		d.mu.Unlock()
		return l, nil
	}
	d.mu.Unlock()
	address := host
	if r.URL.Port() == "" {
		address = net.JoinHostPort(r.URL.Hostname(), "80")
	}
	c, err := d.DialContext(r.Context(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return &line{Conn: c, r: bufio.NewReader(c), w: bufio.NewWriter(c)}, nil
}

// errAnswer is an answer that has begun, and cannot be read.
var errAnswer = errors.New("malformed answer")

// answer makes a call on a connection, which is free again when its answer has been read. stop ends what the end of the call's context does to it.
func (d *direct) answer(l *line, r *http.Request, stop func() bool) (*http.Response, error) {
	if err := r.Write(l.w); err != nil {
		return nil, err
	}
	if err := l.w.Flush(); err != nil {
		return nil, err
	}
	if _, err := l.r.Peek(1); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(l.r, r)
	for err == nil && res.StatusCode < http.StatusOK { // a proxy tells of what it does
		res, err = http.ReadResponse(l.r, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAnswer, err)
	}
	free := func(whole bool) {
		if stop() && whole && !res.Close && l.r.Buffered() == 0 {
			d.give(r.URL.Host, l)
		} else {
			_ = l.Close() // nothing is written any more
		}
	}
	if res.Body == http.NoBody {
		free(true)
	} else {
		res.Body = &body{ReadCloser: res.Body, ctx: r.Context(), free: free}
	}
	return res, nil
}

// body is an answer that is read while it comes.
type body struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // of the call, as in the body of net/http
	once sync.Once
	free func(whole bool)
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.once.Do(func() { b.free(errors.Is(err, io.EOF)) })
		if cause := context.Cause(b.ctx); cause != nil && !errors.Is(err, io.EOF) {
			err = cause
		}
	}
	return n, err
}

// Close drops the connection of an answer that was not read to its end.
func (b *body) Close() error {
	b.once.Do(func() { b.free(false) })
	return nil
}

// give keeps a connection that is free.
func (d *direct) give(host string, l *line) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.idle[host]) >= d.most {
		_ = l.Close() // nothing is written any more
		return
	}
	l.used, l.since = true, time.Now()
	d.idle[host] = append(d.idle[host], l)
	if d.sweep == nil {
		d.sweep = time.AfterFunc(idleTime, func() { d.drop(time.Now().Add(-idleTime)) })
	}
}

// drop closes the connections that nobody has used since a time.
func (d *direct) drop(since time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for host, list := range d.idle {
		list = slices.DeleteFunc(list, func(l *line) bool {
			old := !l.since.After(since)
			if old {
				_ = l.Close() // nothing is written any more
			}
			return old
		})
		if d.idle[host] = list; len(list) == 0 {
			delete(d.idle, host)
		}
	}
	if d.sweep != nil {
		d.sweep.Stop()
		d.sweep = nil
	}
	if len(d.idle) > 0 {
		d.sweep = time.AfterFunc(idleTime, func() { d.drop(time.Now().Add(-idleTime)) })
	}
}

// CloseIdleConnections is for [http.Client.CloseIdleConnections].
func (d *direct) CloseIdleConnections() {
	d.Transport.CloseIdleConnections()
	d.drop(time.Now())
}
