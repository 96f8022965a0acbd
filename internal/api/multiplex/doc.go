// Package multiplex serves many calls of the HTTP API on one connection, for programs that run many agents. The protocol is that of the package
// client/multiplex.
//
// Invariants:
//   - Every call has a credential of its own, and goes through the handler of the API like any other.
//   - A call ends when its client cancels it, or its connection breaks.
//   - The memory for one connection is bounded: the calls in progress, and what of their answers its client has not read.
//
// Start reading at [New].
package multiplex
