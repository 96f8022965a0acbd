package multiplex

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// Protocol is the value of Upgrade.
	Protocol = "trapeze-calls/1"
	// Path is where the server changes to the protocol.
	Path = "/v1/calls"
	// MaxBody is the size of the largest body of a request, in bytes.
	MaxBody = 64 << 10
	// MaxRequest is the size of the largest request, in bytes.
	MaxRequest = MaxBody + 32<<10

	header     = 8        // bytes before a message
	maxUnread  = 1 << 20  // bytes that are buffered for a side that does not read
	maxMessage = 64 << 20 // bytes of a response
	sendLimit  = 30 * time.Second
)

// errClosed is the error of sending on a closed connection.
var errClosed = errors.New("the connection is closed")

// Frames is one side of a connection. Many goroutines may send, and one may receive.
type Frames struct {
	conn io.ReadWriteCloser
	in   *bufio.Reader
	done chan struct{} // closed when nothing is sent any more

	mu      sync.Mutex
	changed sync.Cond
	out     []byte // to be sent
	closed  bool
}

// NewFrames returns a side of a connection, to be closed with [Frames.Close]. What was read ahead comes before what is read from conn; nil: nothing was.
func NewFrames(conn io.ReadWriteCloser, ahead io.Reader) *Frames {
	if ahead == nil {
		ahead = conn
	}
	f := &Frames{conn: conn, in: bufio.NewReaderSize(ahead, 16<<10), done: make(chan struct{})}
	f.changed.L = &f.mu
	go f.send()
	return f
}

// Receive returns the next message, of at most so many bytes, and the number of its call.
func (f *Frames) Receive(most int) (call uint32, message []byte, err error) {
	var head [header]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > uint32(most) { //nolint:gosec // a constant
		return 0, nil, errors.New("a message is too long")
	}
	message = make([]byte, n)
	_, err = io.ReadFull(f.in, message)
	return binary.BigEndian.Uint32(head[4:]), message, err
}

// Send sends the message that add appends. It waits while the other side does not read.
func (f *Frames) Send(call uint32, add func(to []byte) []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.out) > maxUnread && !f.closed {
		f.changed.Wait()
	}
	if f.closed {
		return errClosed
	}
	start := len(f.out)
	f.out = add(append(f.out, 0, 0, 0, 0, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(f.out[start:], uint32(len(f.out)-start-header)) //nolint:gosec // at most maxMessage
	binary.BigEndian.PutUint32(f.out[start+4:], call)
	if start == 0 {
		f.changed.Broadcast()
	}
	return nil
}

// send writes what is to be sent, all that there is in one call, until the connection is closed. It closes a connection whose other side reads nothing for a while.
func (f *Frames) send() {
	defer close(f.done)
	stuck := time.AfterFunc(sendLimit, f.abort)
	defer stuck.Stop()
	var spare []byte
	for {
		stuck.Stop()
		f.mu.Lock()
		for len(f.out) == 0 && !f.closed {
			f.changed.Wait()
		}
		out := f.out
		if f.out = spare[:0]; len(out) > maxUnread/2 {
			f.changed.Broadcast()
		}
		f.mu.Unlock()
		if len(out) == 0 {
			return
		}
		stuck.Reset(sendLimit)
		if _, err := f.conn.Write(out); err != nil {
			f.abort()
			return
		}
		if spare = out; cap(spare) > maxUnread {
			spare = nil
		}
	}
}

// abort closes the connection at once.
func (f *Frames) abort() {
	f.mu.Lock()
	f.closed, f.out = true, nil
	f.changed.Broadcast()
	f.mu.Unlock()
	_ = f.conn.Close()
}

// Flush sends what is to be sent. Nothing can be sent after it.
func (f *Frames) Flush() {
	f.mu.Lock()
	f.closed = true
	f.changed.Broadcast()
	f.mu.Unlock()
	<-f.done
}

// Close closes the connection.
func (f *Frames) Close() { f.abort() }
