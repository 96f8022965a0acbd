// Package visible makes text of others safe to show: to a model in a prompt or in the answer of a tool, and to a person on a
// terminal. It is the only rule about characters that hide: prompts, MCP and the command line share it.
//
// Invariants:
//   - No control character, and none that is ignored or that changes the direction of a text, comes out as it is, apart from tabs,
//     line feeds and the joiners that words of some scripts and emoji are written with.
//   - No text ends the fence or the code span around it.
//
// Where to change what:
//   - visible.go: which characters are shown by their number; plain.go: texts that have none
//   - fence.go: fences and code spans; reasons.go: how several names, each with a reason, are written on one line
//
// Start reading at [Text], then [Fenced].
package visible
