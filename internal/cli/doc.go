// Package cli is the command line: a command for every operation of the server, trapeze work for programs, trapeze mcp for MCP
// clients, and the demo.
//
// It calls a server through the public client, and never builds a server: serve.go has the flags of `serve`, and calls a function that the
// program in cmd passes in [Env]. Output
// is text for people, or with --json one document of the API's JSON. The exit codes are in one table (trapeze help exit-codes).
// The subpackages are named after the nouns of the commands: task, handoff, agent, policy, ticket, memory, envelope, audit.
//
// Invariants:
//   - Every command is in a group of the root's help.
//   - Server, arguments and output are reached through package shell alone, so that all commands behave the same.
//   - A command does the same whether a person, a script or the program of a worker runs it.
//
// Start reading at [Main], then root.go, then package shell.
package cli
