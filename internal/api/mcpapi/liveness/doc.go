// Package liveness keeps an agent's calls alive. It sends heartbeats while the agent calls tools, continues waiting calls after the
// server restarts, and tells a process that renews leases which tasks the agent owns after a call.
//
// Invariants:
//   - A heartbeat that fails never fails the tool call.
//   - A call waits no longer than its caller asked for, however often the server restarts.
//
// Where to change what:
//   - liveness.go: how often heartbeats are sent, and how long a call that waits goes on without a server
//
// Start reading at [TaskStatus], then [Pulse] and [WaitThroughRestart].
package liveness
