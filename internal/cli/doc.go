// Package cli is the command line: every verb of the server for people and scripts, the worker, and the demo.
//
// It reaches a server through the public client like any other program, and is given `serve` as a function, so it
// knows nothing of how a server is made. Output is plain text for people, or with --json the API's own JSON, one
// document; exit codes are in one table (`trapeze help exit-codes`).
//
// May import: client, the domain types, its own command-line libraries; below it are its rooms shell (what every command
// needs), know (the commands of what is known and carried), work (any program as a receiver), daemon (a server in the
// background), stdio (an agent's MCP session), setup (agents' programs are set up), demo (the story) and stage (the demo's real
// work). The commands of tasks, handoffs, agents, tokens and the record are here.
//
// Invariants:
//   - What a command asks the server, reads and prints goes through shell, so it is the same for all.
//   - A command that changes something says the same whether it is run by a person, a script or a worker's child.
//
// Start reading at [Main], then shell, then send.go.
package cli
