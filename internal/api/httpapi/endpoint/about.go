package endpoint

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/internal/api/tracing"
)

// Traced is a response writer that knows the trace of its call.
type Traced interface {
	// TraceID returns the id of the trace: that of the call, of its task, or, if it has none, a new one for its log lines.
	TraceID(ctx context.Context) string
}

// TraceOf returns the id of the trace of a traceparent, as logs have it; empty if there is none.
func TraceOf(traceparent string) string {
	if _, rest, ok := strings.Cut(traceparent, "-"); ok {
		trace, _, _ := strings.Cut(rest, "-")
		return trace
	}
	return ""
}

// About returns attributes for the log: which call it is, of which task, and in which trace. Nothing of what the call says is in them.
func About(ctx context.Context) []any {
	v := requestOf(ctx)
	if v == nil {
		return nil
	}
	list := []any{"method", v.r.Method, "path", v.r.URL.Path, "workspace", v.caller.Workspace, "caller", v.caller.String()}
	if task := tracing.TaskOf(v.r.URL.Path); task != "" {
		list = append(list, "task", task)
	}
	if w, ok := v.w.(Traced); ok {
		list = append(list, "trace", w.TraceID(ctx))
	}
	return list
}
