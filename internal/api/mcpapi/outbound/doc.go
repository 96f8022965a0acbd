// Package outbound serves an MCP server in a process of its own, such as trapeze mcp: each call of the HTTP API that a tool makes, reads included, names
// the tool and belongs to the trace of the tool's call. If the process has a tracer, the call is below the span of the tool.
//
// Start reading at [Transport].
package outbound
