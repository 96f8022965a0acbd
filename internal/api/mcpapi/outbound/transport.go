package outbound

import (
	"net/http"
	"strings"

	"github.com/trapezehq/trapeze/internal/api/tracing"
)

// Transport returns a transport that sends, with each call that a tool makes, the name of the tool and the trace context of its call, unless the
// call has another. If the process has a tracer, the call is below the span of the tool. Other calls stay as they are.
func Transport(base http.RoundTripper) http.RoundTripper { return transport{base} }

type transport struct{ base http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if tool := tracing.From(r.Context()); tool != nil {
		return t.traced(tool, r.Clone(r.Context()))
	}
	tool, trace := tracing.ToolOf(r.Context())
	if tool == "" {
		return t.base.RoundTrip(r)
	}
	r = r.Clone(r.Context()) // a transport may not change the request of its caller
	r.Header.Set(tracing.ToolHeader, tool)
	if r.Header.Get("Traceparent") == "" && trace.Parent != "" && sendable(trace.Parent) {
		r.Header.Set("Traceparent", trace.Parent)
		if trace.State != "" && sendable(trace.State) {
			r.Header.Set("Tracestate", trace.State)
		}
	}
	return t.base.RoundTrip(r)
}

// traced makes a call of a tool that has a span.
func (t transport) traced(tool *tracing.Tool, r *http.Request) (*http.Response, error) {
	r.Header.Set(tracing.ToolHeader, tool.Name())
	tool.Ask(r)
	res, err := t.base.RoundTrip(r)
	if err == nil {
		tool.Learn(res.Header)
	}
	return res, err
}

// CloseIdleConnections is for [http.Client.CloseIdleConnections].
func (t transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// sendable reports whether a header can have a value: otherwise net/http refuses the call.
func sendable(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' })
}
