// Package ticket has the commands of people in the loop: ask, ticket, approve and deny.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - Every command shows an example in its help.
//
// Where to change what:
//   - ask.go: the flags of a question, and how long an answer is waited for; ticket.go: the list and the verbs of a ticket; approve.go, deny.go:
//     those of handoffs and takeovers
//
// Start reading at [Command], then ask.go.
package ticket
