// Package tracing gives the spans of the calls of the APIs to a tracer. The APIs do not know which tracer it is.
//
// Invariants:
//   - A call of an MCP tool is one span, and the calls of the HTTP API that the tool makes in the same process have no spans of their own.
//   - A tool of another process has a span there, and the calls that it makes have spans below it: see [Tool.Ask].
//   - A call without a trace context of its own belongs to the trace of the task that it is about.
//
// Start reading at [Tracer]; package otelapi has one.
package tracing
