// Package audit has the commands that read the record: audit, events and stats.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - An export never overwrites a file.
//
// Where to change what:
//   - audit.go: the commands of the trail and of exports (an entry is printed by shell/trail.go; which fields it has: record/view/trail.go); proof.go: receipts and checkpoints, and the check of one that somebody kept; events.go: what is followed
//   - What an export has is decided in history/export.go, a receipt in proof/receipt.go
//   - stats.go: how figures are printed
//
// Start reading at [Command], [Events] and [Stats].
package audit
