// Package agent has the commands of agents, their tokens, and the channels that they subscribe to.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - The text of a token is printed once, by the command that creates it.
//
// Start reading at [Command], then token.go and channel.go.
package agent
