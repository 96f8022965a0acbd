// Package handoff has the commands of handoffs: send, inbox, accept, reject, confirm, share, takeover, escalate and handoff,
// and the flags that describe a handoff.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - A git working tree is applied whole or not at all, and never over uncommitted changes.
//
// Start reading at [Send] and [Accept], then sendflags.go.
package handoff
