package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/api/tracing"
)

// findTrace is how long the trace of a task is looked for after the call.
const findTrace = 5 * time.Second

// counted notes the status of an answer.
type counted struct {
	http.ResponseWriter
	api    *service
	start  time.Time
	status int
	span   tracing.Span // of the call; nil: it has none
	answer tracing.Answer
	logged bool   // the call is logged
	trace  string // traceparent: of the call, or of the task that it is about
	tool   string // of MCP, in whose name the call is made
}

var (
	_ endpoint.Made   = (*counted)(nil)
	_ endpoint.Traced = (*counted)(nil)
)

// Made implements [endpoint.Made].
func (c *counted) Made(task string) { c.answer.Task = task }

// TraceID implements [endpoint.Traced].
func (c *counted) TraceID(ctx context.Context) string {
	if c.trace == "" && c.answer.Task != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), findTrace) // the caller may have gone
		defer cancel()
		c.trace = c.api.app.Tasks.FindTrace(ctx, endpoint.Caller(ctx), c.answer.Task)
	}
	if c.trace == "" {
		c.trace = tracing.Fresh(ctx).Parent
	}
	return endpoint.TraceOf(c.trace)
}

// WriteHeader implements [http.ResponseWriter].
func (c *counted) WriteHeader(status int) {
	if c.status == 0 && status >= http.StatusOK { // before it come informational ones
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (c *counted) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	return c.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Flush implements [http.Flusher].
func (c *counted) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// called reports a call that has been answered. Its route is a pattern, so that callers cannot invent routes.
func (s *service) called(c *counted, r *http.Request) {
	status := c.status
	if status == 0 {
		status = http.StatusOK // net/http answers for a handler that writes nothing
	}
	pattern := r.Pattern
	if pattern == "" { // refused before
		_, pattern = s.router.Mux().Handler(r)
	}
	if _, path, ok := strings.Cut(pattern, " "); ok {
		pattern = path
	}
	if pattern == "/" { // nowhere
		pattern = ""
	}
	if s.opts.Called != nil {
		s.opts.Called(r.Method, pattern, status, time.Since(c.start))
	}
	if c.logged {
		s.opts.Log.DebugContext(r.Context(), "call", c.about(r, pattern, status)...)
	}
	if c.span != nil {
		c.answer.Method, c.answer.Route, c.answer.Status = r.Method, pattern, status
		c.span.End(c.answer)
	}
}

// about returns what the log says of a call: nothing of what its body, its query and its answer say.
func (c *counted) about(r *http.Request, route string, status int) []any {
	list := []any{"method", tracing.Method(r.Method, "other"), "route", route, "status", status, "took", time.Since(c.start)}
	principal := ""
	if c.answer.Workspace != "" {
		principal = endpoint.Caller(r.Context()).String()
	}
	for _, v := range [][2]string{
		{"workspace", c.answer.Workspace},
		{"caller", principal},
		{"task", c.answer.Task},
		{"trace", c.TraceID(r.Context())},
		{"tool", c.tool},
	} {
		if v[1] != "" {
			list = append(list, v[0], v[1])
		}
	}
	return list
}
