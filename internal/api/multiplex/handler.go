package multiplex

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client/multiplex"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Path is where [New] is served.
const Path = multiplex.Path

const (
	// maxCalls is the number of calls in progress on one connection.
	maxCalls = 1024
	// idle is how long nothing may come on a connection. A call takes less, also if it waits.
	idle = 3 * time.Minute
	// linger is how long what a client has still sent is read, so that it gets the answers before the end of the connection.
	linger = time.Second
)

// errors of calls on such a connection.
var (
	errElsewhere = refusal.New(refusal.Invalid, "make the call on a connection of its own", "only calls below /v1 whose answers are short documents can be made on this connection")
	errTooMany   = refusal.New(refusal.Overloaded, "try again in 1 s, and make fewer calls at once", "%d calls are in progress on this connection", maxCalls).With("retry_seconds", 1)
)

// New returns the handler of such connections. api handles the calls on them. stopping returns a context that ends when the server stops or is drained:
// then each connection ends with the answers to its calls in progress.
func New(api http.Handler, stopping func() context.Context) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet || r.ProtoMajor != 1 || r.Header.Get("Upgrade") != multiplex.Protocol:
			endpoint.ProblemOf(refusal.New(refusal.Invalid, "use the package client/multiplex, or make each call on a connection of its own",
				`this is no request of HTTP/1.1 with the header "Upgrade: %s"`, multiplex.Protocol)).Write(w)
			return
		case stopping().Err() != nil:
			endpoint.ProblemOf(refusal.New(refusal.Unavailable, "call another server, or repeat the call in a moment", "the server is stopping or drained")).Write(w)
			return
		}
		socket, read, err := http.NewResponseController(w).Hijack()
		if err != nil {
			endpoint.ProblemOf(errElsewhere).Write(w)
			return
		}
		_ = socket.SetDeadline(time.Time{})
		if _, err := socket.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + multiplex.Protocol + "\r\n\r\n")); err != nil {
			_ = socket.Close()
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		defer context.AfterFunc(r.Context(), cancel)() // when the server has stopped
		c := &conn{api: api, socket: socket, host: r.Host, remote: r.RemoteAddr, tls: r.TLS, calls: map[uint32]context.CancelFunc{}, idle: make(chan call)}
		early, _ := read.Peek(read.Reader.Buffered()) // an error of a read through it would end r.Context
		c.frames = multiplex.NewFrames(socket, ahead{io.MultiReader(bytes.NewReader(early), socket), c})
		defer context.AfterFunc(stopping(), c.leave)()
		defer context.AfterFunc(ctx, func() { _ = socket.Close() })() // nobody waits any longer
		c.serve(ctx)
		c.end()
	})
}

// conn is one connection.
type conn struct {
	api          http.Handler
	socket       net.Conn
	frames       *multiplex.Frames
	host, remote string // of the request that opened it
	tls          *tls.ConnectionState
	idle         chan call // to goroutines that wait for another call: their stacks have grown
	running      sync.WaitGroup

	mu      sync.Mutex
	calls   map[uint32]context.CancelFunc // in progress
	leaving bool
}

// leave ends the reading of calls.
func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = true
	_ = c.socket.SetReadDeadline(time.Unix(1, 0))
}

// patient sets the time within which something must come.
func (c *conn) patient() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.leaving {
		_ = c.socket.SetReadDeadline(time.Now().Add(idle))
	}
}

// serve begins the calls that come, until the client closes the connection or the server stops. In the first case, all calls are cancelled.
func (c *conn) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	for {
		id, message, err := c.frames.Receive(multiplex.MaxRequest)
		if err != nil {
			break
		}
		if len(message) == 0 {
			c.cancel(id)
			continue
		}
		r, err := readRequest(message)
		if err != nil || !c.begin(ctx, id, r) {
			break
		}
	}
	c.mu.Lock()
	leaving := c.leaving
	c.mu.Unlock()
	if !leaving {
		cancel()
	}
	c.running.Wait()
	cancel()
	close(c.idle)
}

// end closes the connection after the client had time to read the answers.
func (c *conn) end() {
	c.frames.Flush()
	if half, ok := c.socket.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.socket.SetReadDeadline(time.Now().Add(linger))
		for buffer := make([]byte, 4<<10); ; {
			if _, err := c.socket.Read(buffer); err != nil {
				break
			}
		}
	}
	c.frames.Close()
}

// cancel cancels a call.
func (c *conn) cancel(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end := c.calls[id]; end != nil {
		end()
	}
}
