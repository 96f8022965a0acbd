// Package cli is the command line: every verb of the server for people and scripts, the worker, and the demo.
//
// It reaches a server through the public client like any other program, and is given `serve` as a function, so it
// knows nothing of how a server is made. Output is plain text for people, or with --json the API's own JSON, one
// document; exit codes are in one table ([ExitCode], `trapeze help exit-codes`).
//
// May import: client, the domain types, its own command-line libraries; below it are its rooms work (any program as a
// receiver), demo (the story) and stage (the demo's real work).
//
// Invariants:
//   - Who acts is decided by the credential alone; the command line only picks which one (connect.go).
//   - Text of others is made visible before it is printed: no control characters reach a terminal.
//   - A command that changes something says the same whether it is run by a person, a script or a worker's child.
//
// Start reading at [Main], then connect.go, then send.go.
package cli
