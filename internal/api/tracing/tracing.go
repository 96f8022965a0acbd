package tracing

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Context is a W3C trace context. Its zero value is none.
type Context struct{ Parent, State string }

// FromMeta returns the trace context of a call of a tool: _meta has it under the names that MCP reserves.
func FromMeta(meta map[string]any) Context {
	parent, _ := meta["traceparent"].(string) // none is ""
	state, _ := meta["tracestate"].(string)
	if parent == "" {
		return Context{}
	}
	return Context{parent, state}
}

// Start is the beginning of a call.
type Start struct {
	Tool   string // of MCP; "": it is a call of the HTTP API
	Stdio  string // the tool of an MCP server on standard input and output that makes the call of the HTTP API; "": none does
	Parent Context
	ID     string  // of the span, in 16 hexadecimal digits; "": the tracer makes one
	Link   Context // another trace that the span belongs to; zero: none
	At     time.Time
}

// Answer is the end of a call. Empty fields are not reported.
type Answer struct {
	Method    string // of HTTP
	Route     string // its pattern
	Status    int    // of the answer
	Failed    string // the code of a refusal
	Workspace string
	Agent     string // that called
	Task      string // that the call is about
}

// Tracer makes the spans of calls. It is safe for concurrent use.
type Tracer interface {
	// Start begins the span of a call.
	Start(s Start) Span
}

// Span is the span of a call in progress. It is used by one goroutine at a time.
type Span interface {
	// Context returns the trace context of what the call causes.
	Context() Context
	// End ends the span. Call it once.
	End(a Answer)
}

// Tool is a call of an MCP tool. It begins its span with the first call of the HTTP API that it makes about a task, since only that knows the
// trace of the task; or when it ends. It is safe for concurrent use.
type Tool struct {
	tracer Tracer
	start  Start

	mu     sync.Mutex
	span   Span
	apart  Span // of calls that are about no task, before the tool knows its trace: see [Tool.Ask]
	answer Answer
}

type (
	key     struct{}
	callKey struct{}
)

// toolCall is a call of a tool of an MCP server that has no tracer.
type toolCall struct {
	tool   string
	parent Context
	fresh  func() Context // of the log lines of its calls that are in no trace
}

// Fresh returns a new context for the log lines of a call that is in no trace. The calls of a tool that are made in this process have one.
func Fresh(ctx context.Context) Context {
	if c, ok := ctx.Value(callKey{}).(toolCall); ok {
		return c.fresh()
	}
	return fresh()
}

func fresh() Context { return Context{Parent: "00-" + newID() + newID() + "-" + newID() + "-00"} }

// ToolHeader is the header of a call of the HTTP API with the name of the tool that makes it, if the tool is that of an MCP server on standard
// input and output: it runs in a process of its own.
const ToolHeader = "Trapeze-Tool"

// maxTool is the greatest length of the name of a tool.
const maxTool = 64

// ToolName returns what a caller says to be the name of a tool, or "" if it cannot be one.
func ToolName(text string) string {
	strange := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	}
	if len(text) > maxTool || strings.ContainsFunc(text, strange) {
		return ""
	}
	return text
}

// ToolOf returns the tool that makes the calls that have this context, and the trace context of its call, if its MCP server has no tracer;
// "" if none does.
func ToolOf(ctx context.Context) (tool string, parent Context) {
	c, _ := ctx.Value(callKey{}).(toolCall) // none is empty
	return c.tool, c.parent
}

// With returns a context in which the calls of the HTTP API are made in the name of a tool. parent is the trace context of the tool's call.
// Without a tracer, there is no tool that has a span, and the context is one for [ToolOf].
func With(ctx context.Context, t Tracer, tool string, parent Context) (context.Context, *Tool) {
	if t == nil {
		return context.WithValue(ctx, callKey{}, toolCall{tool, parent, sync.OnceValue(fresh)}), nil
	}
	c := &Tool{tracer: t, start: Start{Tool: tool, Parent: parent, At: time.Now()}}
	if parent != (Context{}) {
		c.span = t.Start(c.start)
	}
	return context.WithValue(ctx, key{}, c), c
}

// From returns the tool in whose name the calls are made that have this context; nil: none.
func From(ctx context.Context) *Tool {
	t, _ := ctx.Value(key{}).(*Tool)
	return t
}

// Name is the name of the tool.
func (t *Tool) Name() string { return t.start.Tool }

// Join notes that the tool calls the API as an agent of a workspace, and about a task if it is not empty, and returns the trace context of the
// call. find returns the context in the trace of the task, if there is one; begin says that the trace of the call is then that of the tool.
func (t *Tool) Join(workspace, agent, task string, find func() Context, begin bool) Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answer.Workspace, t.answer.Agent = workspace, agent
	if task != "" {
		t.answer.Task = task
	}
	if t.span == nil {
		parent := find()
		if parent == (Context{}) && !begin {
			return t.alone().Context()
		}
		if parent == (Context{}) {
			t.span = t.alone()
		} else {
			t.within(parent)
		}
	}
	return t.span.Context()
}

// alone returns the span of the calls that are about no task. t.mu is held.
func (t *Tool) alone() Span {
	if t.apart == nil {
		if t.start.ID == "" {
			t.start.ID = newID()
		}
		t.apart = t.tracer.Start(t.start)
	}
	return t.apart
}

// within begins the span of the tool in the trace of a task, with a link to the one of the calls before. t.mu is held.
func (t *Tool) within(parent Context) {
	t.start.Parent = parent
	if t.apart != nil {
		t.start.Link = t.apart.Context()
	}
	t.span = t.tracer.Start(t.start)
}

// End ends the call; err is what it is answered with, nil for a success. Of no tool it does nothing.
func (t *Tool) End(err error) {
	if t == nil {
		return
	}
	failed := ""
	if err != nil {
		failed = string(client.Unavailable)
		if refused := (*client.Error)(nil); errors.As(err, &refused) {
			failed = string(refused.Code)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.span == nil {
		t.span = t.apart
	}
	if t.span == nil {
		t.span = t.tracer.Start(t.start)
	}
	t.answer.Failed = failed
	t.span.End(t.answer)
}
