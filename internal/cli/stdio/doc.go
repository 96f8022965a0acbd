// Package stdio is one agent's MCP session on standard input and output: messages are lines, and the agent lives as long as
// its client does.
//
// Invariants:
//   - The session speaks as its agent, or does not begin.
//   - Nothing but messages of the protocol goes to the output.
//   - No line ends the session: what is no message is answered with an error. A line that is too long is never kept.
//   - What came in one line is answered in one: batches are of the older protocol versions, and refused in the others.
//   - While the session goes on, its agent is present, and keeps the tasks that the session took or worked on. When it ends,
//     however it does, their leases run out.
//   - It ends within a second of its input, or of being asked to.
//
// Start reading at [Run], then lines.go with batch.go, and keeper.go.
package stdio
