package tracing

import (
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// The headers by which a tool that runs in a process of its own learns in which trace its span is: only the server knows the trace of a task.
const (
	// SpanHeader is of a call about a task: the id of the tool's span, in 16 hexadecimal digits. The server takes that span for the parent of the call.
	SpanHeader = "Trapeze-Span"
	// ParentHeader is of the answer: the context in the trace of the task that is the parent of the tool's span, as a traceparent.
	ParentHeader = "Trapeze-Parent"
)

// lenID is the length of the id of a span.
const lenID = 16

// newID returns an id of a span.
func newID() string {
	var b [lenID / 2]byte
	for i := range b {
		b[i] = byte(rand.Uint32()) //nolint:gosec // not secret
	}
	b[0] |= 1 // never zero
	return hex.EncodeToString(b[:])
}

// Below returns the context of a span with an id in the trace of another context, and false if one of them is malformed.
func Below(parent Context, id string) (Context, bool) {
	const at = len("00-") + 32 + len("-") // of the id in a traceparent
	if len(parent.Parent) != at+lenID+len("-01") || len(id) != lenID || strings.Trim(id, "0") == "" || strings.Trim(id, "0123456789abcdef") != "" {
		return Context{}, false
	}
	return Context{parent.Parent[:at] + id + parent.Parent[at+lenID:], parent.State}, true
}

// TaskOf returns the task that the path of a call names, or a part of which it names; empty if there is none.
func TaskOf(path string) string {
	i := strings.Index(path, "/task_")
	if i < 0 {
		return ""
	}
	task, _, _ := strings.Cut(path[i+1:], "/")
	task, _, _ = strings.Cut(task, ".")
	if event.CheckTaskID(task) != nil {
		return ""
	}
	return task
}

// Ask prepares a call of the HTTP API in another process that the tool makes: with the context of the tool's span, or with the id of that span, if
// the tool does not know yet in which trace it is. [Tool.Learn] takes the answer.
//
// Calls that are not about a task come before others in some tools. They have a context of their own, to which the tool's span has a link if it is then
// in the trace of a task.
func (t *Tool) Ask(r *http.Request) {
	task := TaskOf(r.URL.Path)
	t.mu.Lock()
	defer t.mu.Unlock()
	if task != "" {
		t.answer.Task = task
	}
	begin := task == "" && r.Method == http.MethodPost // it makes a task, whose trace the call begins
	if t.span == nil && task != "" {
		if t.start.ID == "" {
			t.start.ID = newID()
		}
		r.Header.Set(SpanHeader, t.start.ID)
		return
	}
	if t.span == nil && begin {
		t.span = t.alone()
	}
	own := t.span
	if own == nil {
		own = t.alone()
	}
	c := own.Context()
	r.Header.Set("Traceparent", c.Parent)
	r.Header.Del("Tracestate")
	if c.State != "" {
		r.Header.Set("Tracestate", c.State)
	}
}

// Learn takes the answer to a call that [Tool.Ask] has prepared.
func (t *Tool) Learn(answer http.Header) {
	parent := answer.Get(ParentHeader)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.span != nil || parent == "" {
		return
	}
	t.within(Context{Parent: parent})
}

// As returns a tracer whose spans are of an agent of a workspace, where their end does not say another.
func As(t Tracer, workspace, agent string) Tracer { return namedTracer{t, workspace, agent} }

type namedTracer struct {
	Tracer
	workspace, agent string
}

type namedSpan struct {
	Span
	of namedTracer
}

func (n namedTracer) Start(s Start) Span { return namedSpan{n.Tracer.Start(s), n} }

func (s namedSpan) End(a Answer) {
	if a.Workspace == "" {
		a.Workspace = s.of.workspace
	}
	if a.Agent == "" {
		a.Agent = s.of.agent
	}
	s.Span.End(a)
}
