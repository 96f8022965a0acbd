package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxOpen is the maximum number of calls that are open at once.
const maxOpen = 256

// lines is an MCP transport with one message per line, and its only connection. Unlike the SDK's, it survives lines that are not
// messages.
type lines struct {
	out     io.Writer
	say     func(string, ...any)
	in      chan line
	ready   []jsonrpc.Message // messages of the last line that Read has not returned yet; used by Read alone
	over    chan struct{}     // closed when reading has ended
	ended   sync.Once
	leaving context.Context //nolint:containedctx // ended by leave
	leave   func()          // ends reading when all calls are answered, at most after the time settling. Waiting calls are answered at once
	shut    chan struct{}   // closed by Close
	once    sync.Once

	writing chan struct{} // has an element while a line is written

	mu      sync.Mutex
	open    map[jsonrpc.ID]call // calls without an answer
	version string              // of the protocol; empty before the first message
	answers int                 // number of answers being written
	quiet   chan struct{}       // after the end of the input: closed when all calls have been answered
	wrong   bool                // a line has been refused
}

// call is a call without an answer.
type call struct {
	greets bool   // it is the first message of the older versions
	in     *batch // its batch, or nil
}

// newLines starts to read. Its goroutine ends only when in does.
func newLines(in io.Reader, out io.Writer, say func(string, ...any)) *lines {
	l := &lines{
		out: out, say: say, in: make(chan line), over: make(chan struct{}), shut: make(chan struct{}), open: map[jsonrpc.ID]call{},
		writing: make(chan struct{}, 1),
	}
	l.leaving, l.leave = context.WithCancel(context.Background())
	go l.scan(in)
	return l
}

// Connect implements [mcp.Transport].
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID implements [mcp.Connection]: there is one session.
func (l *lines) SessionID() string { return "" }

// scan reads lines until the input or the connection ends. The last line may lack its newline.
func (l *lines) scan(in io.Reader) {
	defer close(l.in)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		next, err := readLine(r)
		if next.long || len(bytes.TrimSpace(next.text)) > 0 {
			select {
			case l.in <- next:
			case <-l.shut:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Read implements [mcp.Connection]: it returns the next message, and refuses lines that are not messages.
func (l *lines) Read(context.Context) (jsonrpc.Message, error) {
	for len(l.ready) == 0 {
		select {
		case <-l.shut:
			return nil, l.eof()
		case <-l.leaving.Done():
			l.settle()
			return nil, l.eof()
		case next, more := <-l.in:
			if !more {
				l.settle()
				l.leave() // those that wait
				l.settle()
				return nil, l.eof()
			}
			if err := l.take(next); err != nil {
				return nil, l.eof()
			}
		}
	}
	m := l.ready[0]
	l.ready = l.ready[1:]
	return m, nil
}

// take queues the messages of a line, or refuses it.
func (l *lines) take(n line) error {
	text, wrong := n.json()
	switch {
	case wrong != nil:
	case text[0] == '[':
		return l.takeBatch(text)
	default:
		wrong = l.takeOne(text, nil)
	}
	if wrong == nil {
		return nil
	}
	return l.refuse(wrong)
}

// takeOne queues a message; in is its batch, or nil.
func (l *lines) takeOne(text []byte, in *batch) *fault {
	m, wrong := messageOf(text)
	if wrong != nil {
		return wrong
	}
	if r, is := m.(*jsonrpc.Request); is && r.IsCall() {
		if wrong := l.begin(r, in); wrong != nil {
			return wrong
		}
	}
	l.ready = append(l.ready, m)
	return nil
}

func (l *lines) eof() error {
	l.ended.Do(func() { close(l.over) })
	return io.EOF
}

// begin registers a call.
func (l *lines) begin(r *jsonrpc.Request, in *batch) *fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, taken := l.open[r.ID]
	raw, err := json.Marshal(r.ID.Raw())
	greets := r.Method == "initialize"
	switch {
	case err != nil || taken:
		return &fault{code: jsonrpc.CodeInvalidRequest, text: "a call with this id has not been answered yet: use a new id for every call"}
	case len(l.open) >= maxOpen:
		return &fault{id: raw, code: jsonrpc.CodeInternalError, text: "too many open calls: wait for answers first"}
	case greets && in != nil:
		return &fault{id: raw, code: jsonrpc.CodeInvalidRequest, text: "initialize must not be part of a batch: send it on a line of its own"}
	}
	if in != nil {
		in.left++
	}
	l.open[r.ID] = call{greets, in}
	return nil
}

// settle waits until all calls are answered, at most for the time settling.
func (l *lines) settle() {
	quiet := make(chan struct{})
	l.mu.Lock()
	l.quiet = quiet
	l.calm()
	l.mu.Unlock()
	late := time.NewTimer(settling)
	defer late.Stop()
	select {
	case <-quiet:
	case <-late.C:
	case <-l.shut:
	}
}

// Write implements [mcp.Connection].
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if r, is := m.(*jsonrpc.Response); is {
		var written func()
		b, written = l.answered(r, b)
		defer written() // the ID can be used again once the client has the answer
	}
	if b == nil {
		return err
	}
	return errors.Join(err, l.put(b))
}

// answered frees the ID of a call, and returns the line to write; nil if other answers of its batch are missing. The caller must call
// written afterwards.
func (l *lines) answered(r *jsonrpc.Response, b []byte) (text []byte, written func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.open[r.ID]
	delete(l.open, r.ID)
	if c.greets && r.Error == nil {
		l.version = versionOf(r)
	}
	if c.in != nil {
		b = c.in.answered(b)
	}
	l.answers++
	return b, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.answers--
		l.calm()
	}
}

// calm closes quiet when the input has ended and all calls are answered.
func (l *lines) calm() {
	if l.quiet != nil && len(l.open) == 0 && l.answers == 0 {
		close(l.quiet)
		l.quiet = nil
	}
}

// put writes a line.
func (l *lines) put(b []byte) error {
	select {
	case l.writing <- struct{}{}:
	case <-l.shut: // the client does not read
		return io.ErrClosedPipe
	}
	defer func() { <-l.writing }()
	_, err := l.out.Write(append(b, '\n'))
	return err
}

// refuse answers a line that is not a message.
func (l *lines) refuse(f *fault) error {
	b, err := l.refusal(f)
	if err != nil {
		return err
	}
	return l.put(b)
}

// refusal is the answer to a line, or an element of a batch, that is not a message. The first one is reported on standard error.
func (l *lines) refusal(f *fault) ([]byte, error) {
	l.mu.Lock()
	first := !l.wrong
	l.wrong = true
	l.mu.Unlock()
	if first {
		l.say("refused a line of the input: %s", f.text)
	}
	return f.answer()
}

// Close ends reading. It does not close input and output.
func (l *lines) Close() error {
	l.once.Do(func() { close(l.shut) })
	return nil
}
