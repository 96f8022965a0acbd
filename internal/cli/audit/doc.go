// Package audit has the commands that read the record: audit, events and stats.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - An export never overwrites a file.
//
// Start reading at [Command], [Events] and [Stats].
package audit
