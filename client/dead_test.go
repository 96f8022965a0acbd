package client_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// pipes is a network without sockets, so that a test can have a clock of its own.
type pipes struct {
	net.Listener
	made chan net.Conn
	once sync.Once
	gone chan struct{} // closed when the connections that there are were cut
}

func (p *pipes) Accept() (net.Conn, error) {
	c, ok := <-p.made
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.made) })
	return p.Listener.Close()
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.made <- theirs
	return cable{ours, p.gone}, nil
}

// cut has the connections that there are take what is sent and pass nothing on, and nobody is told.
func (p *pipes) cut() {
	synctest.Wait()
	close(p.gone)
	p.gone = make(chan struct{})
}

// cable is a connection that may be cut.
type cable struct {
	net.Conn
	gone chan struct{}
}

func (c cable) Write(b []byte) (int, error) {
	select {
	case <-c.gone:
		return len(b), nil
	default:
		return c.Conn.Write(b)
	}
}

// overPipes tells a story of a client whose network can be cut.
func overPipes(t *testing.T, start func(*httptest.Server), h http.HandlerFunc, tell func(p *pipes, agent func(name string) time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		s := httptest.NewUnstartedServer(h)
		p := &pipes{Listener: s.Listener, made: make(chan net.Conn), gone: make(chan struct{})}
		s.Listener = p
		start(s)
		defer s.Close()
		made := wire.HTTP(3, s.Client().Transport.(*http.Transport).TLSClientConfig)
		made.Transport.(*http.Transport).DialContext = p.dial
		url := "http://example.com"
		if s.TLS != nil {
			url = "https://example.com"
		}
		c, err := client.New(url, "tz_x", client.Options{HTTP: made, Retries: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		tell(p, func(name string) time.Duration {
			began := time.Now()
			if _, err := c.Agent(t.Context(), name); err != nil {
				t.Error(err)
			}
			return time.Since(began)
		})
	})
}

// The connections that a client keeps are lost together when a network is. It asks no second time on one of them.
func TestACallIsNotRepeatedOnConnectionsThatWereLostTogether(t *testing.T) {
	overPipes(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Second) // three calls at once need three connections
		_, _ = io.WriteString(w, `{}`)
	}, func(p *pipes, agent func(string) time.Duration) {
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() { agent("ann") })
		}
		calls.Wait()
		p.cut()
		agent("ann")
	})
}

// All calls with HTTP/2 are on one connection, which stays when one of them is given up.
func TestADeadConnectionOfHTTP2IsFoundWhileACallWaits(t *testing.T) {
	overPipes(t, func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Error(r.Proto)
		}
		_, _ = io.WriteString(w, `{}`)
	}, func(p *pipes, agent func(string) time.Duration) {
		agent("ann")
		p.cut()
		if took := agent("ann"); took > 20*time.Second {
			t.Errorf("the call takes %s", took)
		}
	})
}

// A call with less time than the client allows is no sign that connections are lost.
func TestACallWhoseOwnTimeEndsLeavesOtherConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, `{}`)
		}))
		p := &pipes{Listener: s.Listener, made: make(chan net.Conn), gone: make(chan struct{})}
		s.Listener = p
		s.Start()
		defer s.Close()
		var dialed atomic.Int32
		made := wire.HTTP(3, nil)
		made.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialed.Add(1)
			return p.dial(ctx, network, address)
		}
		c, err := client.New("http://example.com", "tz_x", client.Options{HTTP: made, Retries: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		two := func(ctx context.Context) {
			var calls sync.WaitGroup
			for range 2 {
				calls.Go(func() { _, _ = c.Agent(ctx, "ann") })
			}
			calls.Wait()
		}
		two(t.Context())
		brief, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, _ = c.Agent(brief, "ann") // ends one of the two connections
		two(t.Context())
		if n := dialed.Load(); n != 3 {
			t.Errorf("%d connections were made, want 3", n)
		}
	})
}
