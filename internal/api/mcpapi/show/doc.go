// Package show writes what a model reads of an agent, a decision of the policy, a memory item, a task or a ticket, in the answer of a
// tool: as data for programs, and as text.
//
// Invariants:
//   - Text of others is in a code span or a fenced block, with hidden characters by their number, as in prompts: none of it looks
//     like text of the server.
//   - It names no tool: the names of tools depend on the client.
//
// Where to change what:
//   - task.go: the lines of a task; children.go: of how many children the newest state is fetched
//   - policy.go: how many receivers that were passed over are named
//   - text.go: how text of others is fenced; trace.go: which trace a program continues; constraint.go: the line of a
//     constraint; the others have one noun each
//   - How long an answer may be is decided in fit/reader.go.
//
// Start reading at [Quoted], then [Task].
package show
