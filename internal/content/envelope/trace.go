package envelope

import "github.com/trapezehq/trapeze/internal/content/tracecontext"

// ParseTrace returns the trace context of the headers traceparent and tracestate of a request: see [tracecontext.Parse].
func ParseTrace(traceparent, tracestate string) Trace {
	parent, state := tracecontext.Parse(traceparent, tracestate)
	return Trace{Parent: parent, State: state}
}
