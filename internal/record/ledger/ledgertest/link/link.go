package link

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// Way is what happens to what is sent in one direction. The zero value passes all on at once.
type Way struct {
	Held  bool          // nothing arrives until it is held no more
	Delay time.Duration // of everything
	Lost  float64       // share of what is sent that TCP has to send again, and everything behind it is as late
}

const (
	again    = 200 * time.Millisecond // the least time after which Linux sends again what was lost
	chunk    = 16 << 10
	inFlight = 256 // chunks that a way takes before the sender has to wait
)

// way is a way in use.
type way struct {
	mu      sync.Mutex
	is      Way
	changed chan struct{} // closed when it is another
}

func newWay() *way { return &way{changed: make(chan struct{})} }

func (w *way) set(is Way) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.is = is
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *way) get() (Way, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.is, w.changed
}

// pass returns when what was sent at a time arrives; false: the link is closed.
func (w *way) pass(ctx context.Context, sent time.Time) bool {
	is, _ := w.get()
	if is.Lost > 0 && rand.Float64() < is.Lost { //nolint:gosec // not a secret
		sent = sent.Add(again)
	}
	for ctx.Err() == nil {
		is, changed := w.get()
		left := time.Until(sent.Add(is.Delay))
		if !is.Held && left <= 0 {
			return true
		}
		var due <-chan time.Time // never, while it is held
		if !is.Held {
			due = time.After(left)
		}
		select {
		case <-due:
		case <-changed:
		case <-ctx.Done():
		}
	}
	return false
}

// Link is an address at which the program at another is reached.
type Link struct {
	to          string
	listener    net.Listener
	there, back *way
	ctx         context.Context // ends with the test
	all         sync.WaitGroup

	mu    sync.Mutex
	conns map[*pair]bool
}

// pair is a connection: that of who connects, and the one on to the program.
type pair struct{ from, to net.Conn }

// reset ends both at once.
func (p *pair) reset() {
	for _, c := range []net.Conn{p.from, p.to} {
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
		_ = c.Close()
	}
}

// New returns a link to an address, and closes it after the test.
func New(t testing.TB, to string) *Link {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	l := &Link{to: to, listener: listener, there: newWay(), back: newWay(), ctx: ctx, conns: map[*pair]bool{}}
	l.all.Go(l.accept)
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		l.Reset(1)
		l.all.Wait()
	})
	return l
}

// Addr is where the link listens.
func (l *Link) Addr() string { return l.listener.Addr().String() }

// SetThere says what happens from now on to what is sent by those who connect.
func (l *Link) SetThere(w Way) { l.there.set(w) }

// SetBack says what happens to what is sent to them.
func (l *Link) SetBack(w Way) { l.back.set(w) }

// Reset breaks about a share of the connections.
func (l *Link) Reset(share float64) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.conns {
		if rand.Float64() < share { //nolint:gosec // not a secret
			p.reset()
			n++
		}
	}
	return n
}

func (l *Link) accept() {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				continue
			}
			return
		}
		l.all.Go(func() { l.serve(c) })
	}
}

// serve passes on what two programs say to each other. Both ways are needed to get a connection.
func (l *Link) serve(from net.Conn) {
	defer func() { _ = from.Close() }()
	if !l.there.pass(l.ctx, time.Now()) || !l.back.pass(l.ctx, time.Now()) {
		return
	}
	to, err := (&net.Dialer{}).DialContext(l.ctx, "tcp", l.to)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	p := &pair{from, to}
	l.mu.Lock()
	l.conns[p] = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.conns, p)
		l.mu.Unlock()
	}()
	if l.ctx.Err() != nil { // it may have ended before it was among them
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.pump(l.there, to, from) })
	both.Go(func() { l.pump(l.back, from, to) })
	both.Wait()
}

// pump passes on what comes from one connection to the other, and then its end.
func (l *Link) pump(w *way, to, from net.Conn) {
	type piece struct {
		at    time.Time
		bytes []byte
	}
	sent := make(chan piece, inFlight)
	go func() {
		defer close(sent)
		for {
			b := make([]byte, chunk)
			n, err := from.Read(b)
			select {
			case sent <- piece{time.Now(), b[:n]}:
			case <-l.ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range sent {
		if !w.pass(l.ctx, p.at) {
			break
		}
		_, _ = to.Write(p.bytes) // if that has ended, the rest is nobody's
	}
	_ = to.Close() // at the end, which was sent as a piece without bytes
}
