// Package liveness is about agents and servers that may stop: the states of tasks after calls, for a process that renews their leases;
// the heartbeats of an agent that calls tools; and waiting calls that continue after the server restarts.
//
// Invariants:
//   - A heartbeat that fails never fails the tool call.
//   - A call waits no longer than its caller asked for, however often the server restarts.
//
// Start reading at [TaskStatus], then [Pulse] and [WaitThroughRestart].
package liveness
