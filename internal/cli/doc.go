// Package cli is the command line: a command for every operation of the server, trapeze work for programs, trapeze mcp for MCP
// clients, and the demo.
//
// It calls a server through the public client, and never builds a server: serve.go has the flags of `serve`, and calls a function that the
// program in cmd passes in [Env]. Output is text for people, or with --json one document of the API's JSON. The exit codes are in one
// table (trapeze help exit-codes).
// A subpackage with commands is mostly named after their noun, such as task and agent; shell, usage, completion and others serve all of them.
//
// Invariants:
//   - Every command is in a group of the root's help.
//   - Server, arguments and output are reached through package shell alone, so that all commands behave the same.
//   - A command does the same whether a person, a script or the program of a worker runs it.
//
// Where to change what:
//   - root.go: the commands, their groups and their order in the help
//   - serve.go: the flags of a server, and which are refused together; the defaults behind them are in server/config.go, and what else is refused
//     at a start in server/server.go
//   - main.go: what the program in cmd gives the command line; how an error ends a command is in shell/errors.go
//   - mcp.go: as which agent trapeze mcp speaks, and how long it waits for a server
//   - work.go, demo.go, stop.go: the flags of commands whose work is done in the packages work, demo and daemon
//
// Start reading at [Main], then root.go, then package shell.
package cli
