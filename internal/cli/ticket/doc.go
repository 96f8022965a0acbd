// Package ticket has the commands of people in the loop: ask, ticket, approve and deny.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - Every command shows an example in its help.
//
// Start reading at [Command], then ask.go.
package ticket
