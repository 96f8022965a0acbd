// Package cli is the command line: every verb of the server for people and scripts, the worker, and the demo.
//
// It reaches a server through the public client like any other program, and is given `serve` as a function, so it
// knows nothing of how a server is made. Output is plain text for people, or with --json the API's own JSON, one
// document; exit codes are in one table (`trapeze help exit-codes`).
//
// The commands of tasks, handoffs, agents, tokens and the record are here. Below it are shell (what every command needs),
// memory (memory, conversations, channels, envelopes, artifacts), policy (policies and phrases), ticket (people in the loop), work
// (any program as a receiver), daemon (a server in the background), stdio (an agent's MCP session), setup and configfile (the
// configuration of agents' programs) and demo.
//
// Invariants:
//   - What a command asks the server, reads and prints goes through shell, so it is the same for all.
//   - A command that changes something says the same whether it is run by a person, a script or a worker's child.
//
// Start reading at [Main], then shell, then send.go.
package cli
