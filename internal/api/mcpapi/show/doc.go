// Package show writes what a model reads of an agent, a decision of the policy, a memory item, a task or a ticket, in the answer of a
// tool: as data for programs, and as text.
//
// Invariants:
//   - Text of others is in a code span or a fenced block, with hidden characters by their number, as in prompts: none of it looks
//     like text of the server.
//   - It names no tool: the names of tools depend on the client.
//
// Start reading at [Quoted], then [Task].
package show
