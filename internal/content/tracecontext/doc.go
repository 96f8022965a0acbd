// Package tracecontext reads the headers traceparent and tracestate of the W3C recommendation on trace context.
//
// Start reading at [Parse].
package tracecontext
