package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// trace returns the caller with the trace context of its call. With a tracer, that is the context of the span of the call, which it begins,
// or of the tool that makes the call in this process.
func (s *service) trace(c caller.Caller, r *http.Request, call *counted) caller.Caller {
	var given tracing.Context
	if parent := r.Header["Traceparent"]; len(parent) == 1 { // more than one is ambiguous
		given = tracing.Context{Parent: parent[0], State: strings.Join(r.Header["Tracestate"], ",")}
	}
	if given.Parent != "" {
		c = c.WithTrace(given.Parent, given.State)
	}
	if call == nil || r.URL.Path == metricsPath {
		return c
	}
	task := tracing.TaskOf(r.URL.Path)
	call.answer = tracing.Answer{Workspace: c.Workspace, Agent: c.Agent(), Task: task}
	call.trace, call.tool = c.Trace.Parent, tracing.ToolName(r.Header.Get(tracing.ToolHeader))
	if c.Trace.IsZero() && r.Header.Get(tracing.SpanHeader) != "" {
		parent := s.traceOf(r.Context(), c, task)
		if own, ok := tracing.Below(parent, r.Header.Get(tracing.SpanHeader)); ok {
			call.Header().Set(tracing.ParentHeader, parent.Parent)
			c.Trace.Parent = own.Parent
		}
	}
	if s.opts.Tracer == nil {
		if tool, of := tracing.ToolOf(r.Context()); tool != "" {
			call.tool, call.trace = tool, cmp.Or(call.trace, c.WithTrace(of.Parent, of.State).Trace.Parent)
		}
		return c
	}
	own := s.begin(c, r, call)
	call.trace = own.Parent
	c.Trace.Parent, c.Trace.State = own.Parent, own.State
	return c
}

// begin begins the span of a call, or has it in that of the tool that makes it, and returns its trace context.
func (s *service) begin(c caller.Caller, r *http.Request, call *counted) tracing.Context {
	task := call.answer.Task
	if tool := tracing.From(r.Context()); tool != nil {
		call.tool = tool.Name()
		find := func() tracing.Context { return s.traceOf(r.Context(), c, task) }
		return tool.Join(c.Workspace, c.Agent(), task, find, task == "" && r.Method == http.MethodPost)
	}
	start := tracing.Start{Stdio: call.tool, At: call.start, Parent: tracing.Context{Parent: c.Trace.Parent, State: c.Trace.State}}
	if c.Trace.IsZero() {
		start.Parent = s.traceOf(r.Context(), c, task)
	}
	call.span = s.opts.Tracer.Start(start)
	return call.span.Context()
}

// traceOf returns the trace context of a task; the zero value if it has none, or "" is no task.
func (s *service) traceOf(ctx context.Context, c caller.Caller, task string) tracing.Context {
	if task == "" {
		return tracing.Context{}
	}
	return tracing.Context{Parent: s.app.Tasks.FindTrace(ctx, c, task)}
}
