package httpapi

import (
	"net/http"
	"strings"

	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// trace returns the caller with the trace context of its call. With a tracer, that is the context of the span of the call, which it begins,
// or of the tool that makes the call in this process.
func (s *service) trace(c caller.Caller, r *http.Request, call *counted) caller.Caller {
	var given tracing.Context
	if parent := r.Header["Traceparent"]; len(parent) == 1 { // more than one is ambiguous
		given = tracing.Context{Parent: parent[0], State: strings.Join(r.Header["Tracestate"], ",")}
	}
	c = c.WithTrace(given.Parent, given.State)
	if s.opts.Tracer == nil || r.URL.Path == metricsPath {
		return c
	}
	task := taskIn(r.URL.Path)
	find := func() tracing.Context {
		if task == "" {
			return tracing.Context{}
		}
		return tracing.Context{Parent: s.app.Tasks.FindTrace(r.Context(), c, task)}
	}
	if tool := tracing.From(r.Context()); tool != nil {
		own := tool.Join(c.Workspace, c.Agent(), task, find, task == "" && r.Method == http.MethodPost)
		return c.WithTrace(own.Parent, own.State)
	}
	start := tracing.Start{At: call.start, Parent: tracing.Context{Parent: c.Trace.Parent, State: c.Trace.State}}
	if c.Trace.IsZero() {
		start.Parent = find()
	}
	call.answer = tracing.Answer{Workspace: c.Workspace, Agent: c.Agent(), Task: task}
	call.span = s.opts.Tracer.Start(start)
	own := call.span.Context()
	return c.WithTrace(own.Parent, own.State)
}

// taskIn returns the task that a path names, or a part of which it names; empty if there is none.
func taskIn(path string) string {
	segments := strings.SplitN(path, "/", 5)
	if len(segments) < 4 {
		return ""
	}
	task, _, _ := strings.Cut(segments[3], ".")
	if event.CheckTaskID(task) != nil {
		return ""
	}
	return task
}
