// Package envelope has the commands of what travels with a task: envelopes, artifacts and drift.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - A fetched artifact is written whole or not at all, and never to a terminal unless asked for.
//
// Where to change what:
//   - envelope.go: the commands of envelopes; artifact.go: of files; drift.go: of drift, whose table is in drift/table.go
//
// Start reading at [Command], then artifact.go and drift.go.
package envelope
