package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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
	over  chan struct{} // closed when nothing more is read
	ended sync.Once
	shut  chan struct{} // closed by Close
	once  sync.Once

	writing sync.Mutex

	mu      sync.Mutex
	open    map[jsonrpc.ID]bool // calls that are not answered
	answers int                 // being written
	quiet   chan struct{}       // closed when there are none of both, once the input has ended
	wrong   bool                // a line was refused before
}

// newLines begins to read at once. Its reader ends with in; nothing else can end it.
func newLines(in io.Reader, out io.Writer, say func(string, ...any)) *lines {
	l := &lines{
		out: out, say: say, in: make(chan line), over: make(chan struct{}), shut: make(chan struct{}), open: map[jsonrpc.ID]bool{},
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
	for {
		select {
		case <-l.shut:
			return nil, l.eof()
		case next, more := <-l.in:
			if !more {
				l.settle()
				return nil, l.eof()
			}
			m, wrong := next.message()
			if call, is := m.(*jsonrpc.Request); is && wrong == nil && call.IsCall() {
				wrong = l.begin(call.ID)
			}
			if wrong == nil {
				return m, nil
			}
			if err := l.refuse(wrong); err != nil {
				return nil, l.eof()
			}
		}
	}
}

func (l *lines) eof() error {
	l.ended.Do(func() { close(l.over) })
	return io.EOF
}

// begin notes a call.
func (l *lines) begin(id jsonrpc.ID) *fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	raw, err := json.Marshal(id.Raw())
	switch {
	case err != nil || l.open[id]:
		return &fault{code: jsonrpc.CodeInvalidRequest, text: "a call with this id is not answered yet: give every call an id of its own"}
	case len(l.open) >= maxOpen:
		return &fault{id: raw, code: jsonrpc.CodeInternalError, text: "too many calls at once: wait for answers before you call again"}
	}
	l.open[id] = true
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
		defer l.answered(r.ID)() // its id is free when the client has the answer
	}
	if err != nil {
		return err
	}
	return l.put(b)
}

// answered frees a call's id; what it gives notes that the answer was written.
func (l *lines) answered(id jsonrpc.ID) (written func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, id)
	l.answers++
	return func() {
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

// refuse answers a line that is no message, and tells people of the first.
func (l *lines) refuse(f *fault) error {
	l.mu.Lock()
	first := !l.wrong
	l.wrong = true
	l.mu.Unlock()
	if first {
		l.say("a line of the input was refused: %s", f.text)
	}
	b, err := f.answer()
	if err != nil {
		return err
	}
	return l.put(b)
}

// Close ends reading; input and output stay as they are.
func (l *lines) Close() error {
	l.once.Do(func() { close(l.shut) })
	return nil
}
