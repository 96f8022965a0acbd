// Package vital is who lives, as an MCP server sees it: how tasks stand after calls, for whoever keeps their leases; the
// signs of life of an agent that calls tools; and a server of another process that goes away and comes back.
//
// Invariants:
//   - A sign of life never fails the call that it comes with.
//   - What waits is waited for no longer than it was asked to be, however often the server goes away.
//
// Start reading at [TaskStatus], then [Pulse] and [WaitThroughRestart].
package liveness
