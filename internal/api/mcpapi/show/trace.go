package show

import "encoding/json"

// Trace is the W3C trace context of an envelope, under the names that it has in _meta; empty if the envelope has none. Programs that
// accept a task continue the trace with it.
func Trace(sealed json.RawMessage) map[string]any {
	var doc struct {
		Trace struct{ Traceparent, Tracestate string }
	}
	found := map[string]any{}
	if json.Unmarshal(sealed, &doc) != nil || doc.Trace.Traceparent == "" {
		return found
	}
	found["traceparent"] = doc.Trace.Traceparent
	if doc.Trace.Tracestate != "" {
		found["tracestate"] = doc.Trace.Tracestate
	}
	return found
}
