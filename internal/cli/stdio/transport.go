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

// maxOpen is how many calls of a client may be open at once.
const maxOpen = 256

// lines is a transport of MCP, and its only connection: one message a line. Unlike the SDK's it outlives what is no
// message.
type lines struct {
	out   io.Writer
	say   func(string, ...any)
	in    chan line
	ready []jsonrpc.Message // of a line that was read, and not given yet; Read's alone
	over  chan struct{}     // closed when nothing more is read
	ended sync.Once
	shut  chan struct{} // closed by Close
	once  sync.Once

	writing sync.Mutex

	mu      sync.Mutex
	open    map[jsonrpc.ID]call // that are not answered
	version string              // of the protocol, once it is agreed upon
	answers int                 // being written
	quiet   chan struct{}       // closed when there are no calls and answers, once the input has ended
	wrong   bool                // a line was refused before
}

// call is a call that is not answered.
type call struct {
	greets bool   // it begins the session
	in     *batch // that it came in; nil: it came alone
}

// newLines begins to read at once. Its reader ends with in; nothing else can end it.
func newLines(in io.Reader, out io.Writer, say func(string, ...any)) *lines {
	l := &lines{
		out: out, say: say, in: make(chan line), over: make(chan struct{}), shut: make(chan struct{}), open: map[jsonrpc.ID]call{},
	}
	go l.scan(in)
	return l
}

// Connect implements [mcp.Transport].
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID implements [mcp.Connection]: there is one session.
func (l *lines) SessionID() string { return "" }

// scan passes lines on until the input or the connection ends. The last may lack its end.
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

// Read gives the next message. What is none is answered here.
func (l *lines) Read(context.Context) (jsonrpc.Message, error) {
	for len(l.ready) == 0 {
		select {
		case <-l.shut:
			return nil, l.eof()
		case next, more := <-l.in:
			if !more {
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

// take makes what a line says ready, or refuses it.
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

// takeOne makes a message ready that came in a batch, or alone.
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

// begin notes a call.
func (l *lines) begin(r *jsonrpc.Request, in *batch) *fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, taken := l.open[r.ID]
	raw, err := json.Marshal(r.ID.Raw())
	greets := r.Method == "initialize"
	switch {
	case err != nil || taken:
		return &fault{code: jsonrpc.CodeInvalidRequest, text: "a call with this id is not answered yet: give every call an id of its own"}
	case len(l.open) >= maxOpen:
		return &fault{id: raw, code: jsonrpc.CodeInternalError, text: "too many calls at once: wait for answers before you call again"}
	case greets && in != nil:
		return &fault{id: raw, code: jsonrpc.CodeInvalidRequest, text: "initialize is no part of a batch: send it on a line of its own"}
	}
	if in != nil {
		in.left++
	}
	l.open[r.ID] = call{greets, in}
	return nil
}

// settle waits until all calls are answered, but not for long.
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
		defer written() // its id is free when the client has the answer
	}
	if b == nil {
		return err
	}
	return errors.Join(err, l.put(b))
}

// answered frees a call's id, and gives the line that is to be written; nil: others of its batch are awaited. What it gives
// besides notes that this was done.
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

// calm says so when the input has ended and all that was asked is answered.
func (l *lines) calm() {
	if l.quiet != nil && len(l.open) == 0 && l.answers == 0 {
		close(l.quiet)
		l.quiet = nil
	}
}

// put writes a line.
func (l *lines) put(b []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.out.Write(append(b, '\n'))
	return err
}

// refuse answers a line that is no message.
func (l *lines) refuse(f *fault) error {
	b, err := l.refusal(f)
	if err != nil {
		return err
	}
	return l.put(b)
}

// refusal is the answer to a line that is no message, or to a part of one. People are told of the first.
func (l *lines) refusal(f *fault) ([]byte, error) {
	l.mu.Lock()
	first := !l.wrong
	l.wrong = true
	l.mu.Unlock()
	if first {
		l.say("a line of the input was refused: %s", f.text)
	}
	return f.answer()
}

// Close ends reading; input and output stay as they are.
func (l *lines) Close() error {
	l.once.Do(func() { close(l.shut) })
	return nil
}
