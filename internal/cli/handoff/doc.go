// Package handoff has the commands of handoffs: send, inbox, accept, reject, confirm, share, takeover, escalate and handoff,
// and the flags that describe a handoff.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - A git working tree is applied whole or not at all, and never over uncommitted changes.
//
// Where to change what:
//   - sendflags.go: the flags of every command that hands something on, and their defaults
//   - accept.go: what is printed of a context; inbox.go: what the command line says around a notice, and what to do next (the reason in it:
//     domain/task/notice.go; what MCP says to do: mcpapi/inbox.go)
//   - What send prints is the receipt of shell/receipt.go; what is known of the envelope in it (tokens, what is missing or omitted) is from usecase/taskstore/sealed.go
//   - git.go: how a snapshot of a working tree is sent and fetched, and what the sender is warned of; what goes along is decided in files/gitsnap/take.go
//   - constraint.go: how constraints are read from arguments
//
// Start reading at [Send] and [Accept], then sendflags.go.
package handoff
