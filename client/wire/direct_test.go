package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// site is a server that counts its connections.
type site struct {
	*httptest.Server
	connections atomic.Int32
}

func newSite(t testing.TB, h http.HandlerFunc) *site {
	s := &site{Server: httptest.NewUnstartedServer(h)}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// request returns a call to the site with a body, unless that is empty.
func (s *site) request(t testing.TB, text string) *http.Request {
	t.Helper()
	method, body := http.MethodPost, io.Reader(strings.NewReader(text))
	if text == "" {
		method, body = http.MethodGet, nil
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", "k")
	return r
}

// call makes a call and returns its answer.
func call(t testing.TB, c *http.Client, r *http.Request) string {
	t.Helper()
	res, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func echo(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s", r.Method, b)
}

func TestCallsShareAConnectionWhateverTheirAnswersAreLike(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		switch string(b) {
		case "hints":
			w.WriteHeader(http.StatusEarlyHints)
		case "none":
			w.WriteHeader(http.StatusNoContent)
			return
		case "chunks":
			_ = http.NewResponseController(w).Flush()
		case "long":
			b = []byte(long)
		case "redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusSeeOther)
			return
		}
		_, _ = w.Write(b)
	})
	c := HTTP(4, nil)
	defer c.CloseIdleConnections()
	for _, text := range []string{"short", "hints", "none", "chunks", "long", "", "redirect", "short"} {
		want := map[string]string{"none": "", "long": long, "redirect": ""}
		w, special := want[text]
		if !special {
			w = text
		}
		if got := call(t, c, s.request(t, text)); got != w {
			t.Errorf("%q: %d bytes, want %d", text, len(got), len(w))
		}
	}
	if n := s.connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestACallIsMadeAgainIfTheServerHasClosedTheIdleConnection(t *testing.T) {
	s := newSite(t, echo)
	c := HTTP(4, nil)
	defer c.CloseIdleConnections()
	for range 3 {
		if got := call(t, c, s.request(t, "hello")); got != "POST hello" {
			t.Error(got)
		}
		s.CloseClientConnections()
	}
	s.Close()
	if res, err := c.Do(s.request(t, "hello")); err == nil { //nolint:bodyclose // there is none
		t.Errorf("%v of a server that has ended", res)
	}
}

func TestACallThatMayNotBeMadeAgainHasNoConnectionThatMayBeClosed(t *testing.T) {
	s := newSite(t, echo)
	c := HTTP(4, nil)
	defer c.CloseIdleConnections()
	for range 2 {
		call(t, c, s.request(t, "hello"))
		r := s.request(t, "hello")
		r.Header.Del("Idempotency-Key")
		call(t, c, r)
	}
	if n := s.connections.Load(); n != 2 { // that of http.Transport is the second
		t.Errorf("%d connections", n)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	held := make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // net/http tells of a client that has gone after that
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, "begins")
			_ = http.NewResponseController(w).Flush()
		}
		select {
		case held <- struct{}{}:
		case <-r.Context().Done():
		}
		<-r.Context().Done()
	})
	c := HTTP(4, nil)
	defer c.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-held; cancel() }()
	if res, err := c.Do(s.request(t, "before the answer").WithContext(ctx)); !errors.Is(err, context.Canceled) { //nolint:bodyclose // there is none
		t.Errorf("%v, %v", res, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	res, err := c.Do(s.request(t, "").WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if b, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", b, err)
	}
	_ = res.Body.Close()
	if n := s.connections.Load(); n != 2 {
		t.Errorf("%d connections: one was used again", n)
	}
}

func TestAnAnswerThatIsNotReadToItsEndEndsItsConnection(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "a")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "b")
	})
	c := HTTP(4, nil)
	defer c.CloseIdleConnections()
	for range 2 {
		res, err := c.Do(s.request(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	if n := s.connections.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

func TestACutOrMalformedAnswerIsAnErrorAndNotAskedForAgain(t *testing.T) {
	for _, answer := range []string{"", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					calls++
				}
				_, _ = io.WriteString(conn, answer)
				_ = conn.Close()
			}
		}()
		c := HTTP(4, nil)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Do(r)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
		_ = l.Close()
		<-done
		if err == nil || calls != 1 {
			t.Errorf("%q: %d calls, %v", answer, calls, err)
		}
	}
}

func TestIdleConnectionsAreFewAndEnd(t *testing.T) {
	arrived, leave := make(chan struct{}), make(chan struct{})
	s := newSite(t, func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-leave })
	c := HTTP(2, nil)
	d, is := c.Transport.(*direct)
	if !is {
		t.Fatalf("%T", c.Transport)
	}
	ends := make(chan error, 3)
	for range 3 {
		r := s.request(t, "")
		go func() {
			res, err := c.Do(r)
			if err == nil {
				err = res.Body.Close()
			}
			ends <- err
		}()
	}
	for range 3 {
		<-arrived
	}
	close(leave)
	for range 3 {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	count := func() (n int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, list := range d.idle {
			n += len(list)
		}
		return n
	}
	if n := count(); n != 2 {
		t.Errorf("%d idle connections", n)
	}
	d.drop(time.Now().Add(-time.Hour))
	if n := count(); n != 2 || d.sweep == nil {
		t.Errorf("%d idle connections after a sweep that is too early", n)
	}
	c.CloseIdleConnections()
	if n := count(); n != 0 || d.sweep != nil {
		t.Errorf("%d idle connections after all were closed", n)
	}
}

func TestAHeaderThatNoCallCanHaveIsRefused(t *testing.T) {
	s := newSite(t, echo)
	c := HTTP(2, nil)
	r := s.request(t, "hello")
	r.Header.Set("Idempotency-Key", "k\r\nEvil: yes")
	if res, err := c.Do(r); err == nil { //nolint:bodyclose // there is none
		t.Errorf("%v", res)
	}
}

// BenchmarkCall compares calls of this transport with those of net/http, by processor time: the server is the same.
func BenchmarkCall(b *testing.B) {
	s := newSite(b, echo)
	for name, c := range map[string]*http.Client{"direct": HTTP(64, nil), "net-http": {Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					call(b, c, s.request(b, "hello"))
				}
			})
		})
	}
}
