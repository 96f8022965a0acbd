package multiplex

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

const (
	openLimit = 10 * time.Second
	// askAgain is how long calls have connections of their own after a server did not change to the protocol.
	askAgain = time.Minute
	// idle is how long a connection without calls is kept: less than the server keeps it.
	idle = 90 * time.Second
)

// HTTP returns an HTTP client that carries calls as the package says. trust is for connections with TLS; nil means the CAs of the system.
func HTTP(trust *tls.Config) *http.Client {
	t := &transport{plain: wire.HTTP(64, trust), first: wire.HTTP(1, trust), servers: map[string]*server{}}
	if first, ok := t.first.Transport.(*http.Transport); ok { // HTTP/2 has no Upgrade
		first.ForceAttemptHTTP2, first.TLSNextProto = false, map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	return &http.Client{Transport: t}
}

// transport is an [http.RoundTripper].
type transport struct {
	plain *http.Client // makes all other calls
	first *http.Client // makes the requests that open connections

	mu      sync.Mutex
	servers map[string]*server // by scheme and host
}

// server is one server, and the connection to it.
type server struct {
	open  chan struct{} // has one value, which who opens the connection takes
	mu    sync.Mutex
	conn  *conn     // nil: none
	plain time.Time // until then it is not asked again to change to the protocol
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !fits(r) {
		return t.plain.Transport.RoundTrip(r)
	}
	for {
		c, err := t.connect(r)
		if err != nil {
			if r.Body != nil {
				_ = r.Body.Close()
			}
			return nil, err
		}
		if c == nil {
			return t.plain.Transport.RoundTrip(r)
		}
		if id, answer, ok := c.begin(); ok {
			return c.roundTrip(r, id, answer)
		}
	}
}

// CloseIdleConnections closes connections without calls.
func (t *transport) CloseIdleConnections() {
	t.plain.CloseIdleConnections()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.servers {
		if c, _ := s.current(); c != nil {
			c.closeIdle()
		}
	}
}

// fits reports whether a call is one of JSON that is not large.
func fits(r *http.Request) bool {
	none := r.Body == nil || r.Body == http.NoBody
	return strings.HasPrefix(r.URL.Path, "/v1/") && r.Method != http.MethodHead && r.Header.Get("Accept") == "" && (none || r.ContentLength > 0 && r.ContentLength <= MaxBody)
}

// connect returns the connection to the server of a request, which it opens if there is none; nil: the server does not change to the protocol.
func (t *transport) connect(r *http.Request) (*conn, error) {
	key := r.URL.Scheme + "://" + r.URL.Host
	t.mu.Lock()
	s := t.servers[key]
	if s == nil {
		s = &server{open: make(chan struct{}, 1)}
		s.open <- struct{}{}
		t.servers[key] = s
	}
	t.mu.Unlock()
	if c, plain := s.current(); c != nil || plain {
		return c, nil
	}
	select {
	case <-s.open:
		defer func() { s.open <- struct{}{} }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if c, plain := s.current(); c != nil || plain { // another call has opened it
		return c, nil
	}
	body, err := t.upgrade(r, key)
	if err != nil {
		return nil, fmt.Errorf("multiplex: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if body == nil {
		s.plain = time.Now().Add(askAgain)
		return nil, nil //nolint:nilnil // as its comment says
	}
	s.conn = newConn(body)
	return s.conn, nil
}

// current returns the connection if it is open, and whether calls have connections of their own now.
func (s *server) current() (c *conn, plain bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && !s.conn.isOpen() {
		s.conn = nil
	}
	return s.conn, time.Now().Before(s.plain)
}

// upgrade opens a connection with the credential of a call; nil: the server does not change to the protocol.
func (t *transport) upgrade(r *http.Request, base string) (io.ReadWriteCloser, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // the connection is for other calls, too
	late := time.AfterFunc(openLimit, cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+Path, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	for _, name := range []string{"Authorization", "User-Agent"} {
		req.Header[name] = r.Header[name]
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", Protocol)
	res, err := t.first.Transport.RoundTrip(req)
	if err != nil {
		cancel()
		return nil, err
	}
	body, both := res.Body.(io.ReadWriteCloser)
	if res.StatusCode != http.StatusSwitchingProtocols || !both || !late.Stop() {
		_ = res.Body.Close()
		cancel()
		return nil, nil //nolint:nilnil // as its comment says
	}
	return canceling{body, cancel}, nil
}

// canceling is a connection that ends the context of its request when it is closed.
type canceling struct {
	io.ReadWriteCloser
	cancel context.CancelFunc
}

// Close implements [io.Closer].
func (c canceling) Close() error {
	defer c.cancel()
	return c.ReadWriteCloser.Close()
}
