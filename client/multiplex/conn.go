package multiplex

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// errBroken is the error of a call whose connection broke: nobody knows whether it has happened.
var errBroken = errors.New("multiplex: the connection broke before the answer")

// conn is a connection with the calls on it.
type conn struct {
	frames *Frames
	rest   *time.Timer // closes it when it has had no calls for a while

	mu    sync.Mutex
	next  uint32
	calls map[uint32]chan []byte // each gets its response; closed: the connection broke
	heard time.Time              // when the last message came
}

func newConn(body io.ReadWriteCloser) *conn {
	c := &conn{frames: NewFrames(body, nil), calls: map[uint32]chan []byte{}}
	c.rest = time.AfterFunc(idle, c.closeIdle)
	go c.receive()
	return c
}

func (c *conn) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls != nil
}

func (c *conn) closeIdle() {
	c.mu.Lock()
	calls := len(c.calls)
	if calls == 0 {
		c.calls = nil // a call that begins now has another connection
	}
	c.mu.Unlock()
	if calls == 0 {
		c.end()
		return
	}
	c.rest.Reset(idle)
}

// receive gives each call its response, until the connection ends.
func (c *conn) receive() {
	defer c.end()
	for {
		id, message, err := c.frames.Receive(maxMessage)
		if err != nil {
			return
		}
		c.mu.Lock()
		call := c.calls[id]
		delete(c.calls, id)
		c.heard = time.Now()
		c.mu.Unlock()
		if call != nil { // else it was given up
			call <- message
		}
	}
}

// end closes the connection, and tells all calls on it.
func (c *conn) end() {
	c.frames.Close()
	c.rest.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.calls {
		close(call)
	}
	c.calls = nil
}

// begin adds a call, unless the connection is closed.
func (c *conn) begin() (id uint32, answer chan []byte, ok bool) {
	answer = make(chan []byte, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		return 0, nil, false
	}
	c.next++
	c.calls[c.next] = answer
	if len(c.calls) == 1 {
		c.rest.Reset(idle)
	}
	return c.next, answer, true
}

// roundTrip makes a call that [conn.begin] has added.
func (c *conn) roundTrip(r *http.Request, id uint32, answer chan []byte) (*http.Response, error) {
	start := time.Now()
	request, ok := requests.Get().(*bytes.Buffer)
	if !ok {
		request = new(bytes.Buffer)
	}
	request.Reset()
	defer requests.Put(request)
	err := r.Write(request)
	if err == nil && request.Len() > MaxRequest {
		err = errors.New("multiplex: the headers are too long")
	}
	if err != nil {
		c.forget(id)
		return nil, err
	}
	if err := c.frames.Send(id, func(to []byte) []byte { return append(to, request.Bytes()...) }); err != nil {
		c.end()
		return nil, errBroken
	}
	select {
	case message, ok := <-answer:
		if !ok || len(message) == 0 {
			return nil, errBroken
		}
		return readResponse(message, r)
	case <-r.Context().Done():
		c.giveUp(id, start, r.Context().Err())
		return nil, r.Context().Err()
	}
}

func (c *conn) forget(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// giveUp cancels a call. A connection from which nothing came since the call began is not used again if its time is over.
func (c *conn) giveUp(id uint32, start time.Time, why error) {
	c.forget(id)
	c.mu.Lock()
	dead := errors.Is(why, context.DeadlineExceeded) && c.heard.Before(start)
	c.mu.Unlock()
	if dead {
		c.end()
		return
	}
	_ = c.frames.Send(id, func(to []byte) []byte { return to }) // closed: it is cancelled
}

var requests = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readers are for the heads of responses, which are in memory.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 512) }}

// Split splits a message of HTTP/1.1 into its head and its body, which is the rest.
func Split(message []byte) (head, body []byte) {
	at := bytes.Index(message, []byte("\r\n\r\n"))
	if at < 0 {
		return message, nil
	}
	return message[:at+4], message[at+4:]
}

func readResponse(message []byte, r *http.Request) (*http.Response, error) {
	head, body := Split(message)
	b, ok := readers.Get().(*bufio.Reader)
	if !ok {
		b = bufio.NewReaderSize(nil, 512)
	}
	defer readers.Put(b)
	b.Reset(bytes.NewReader(head))
	res, err := http.ReadResponse(b, r)
	if err != nil {
		return nil, err
	}
	if res.ContentLength != int64(len(body)) {
		return nil, io.ErrUnexpectedEOF
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}
