// Package memory has the commands of what agents know: memory items and conversations.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - Every command shows an example in its help.
//
// Where to change what:
//   - memory.go: the commands of items; search.go: the filters of a list and a search; conversation.go: of conversations
//
// Start reading at [Command], then conversation.go.
package memory
