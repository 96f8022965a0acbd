// Package memory has the commands of what agents know: memory items and conversations.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - Every command shows an example in its help.
//
// Start reading at [Command], then conversation.go.
package memory
