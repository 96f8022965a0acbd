// Package visible makes text of others safe to show: to a model in a prompt or in the answer of a tool, and to a person on a
// terminal. It is the only rule about characters that hide: prompts, MCP and the command line share it.
//
// Invariants:
//   - No control character, and none that is ignored or that changes the direction of a text, comes out as it is, apart from tabs,
//     line feeds and the joiners that words of some scripts and emoji are written with.
//   - No text ends the fence or the code span around it.
//
// Start reading at [Text], then [Fenced].
package visible
