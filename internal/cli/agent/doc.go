// Package agent has the commands of agents, their tokens, and the channels that they subscribe to.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - The text of a token is printed once, by the command that creates it.
//
// Where to change what:
//   - agent.go: the commands and flags of agents, and the columns of their list; token.go: of tokens; channel.go: of channels. What each does is decided in usecase/agents,
//     usecase/tokens and usecase/channels
//
// Start reading at [Command], then token.go and channel.go.
package agent
