// Package conversations is the use cases of conversations: what was said across agents, and the text that lets the next agent
// carry on. [Store] is the conversations as other use cases reach them.
//
// Invariants:
//   - The rules of conversations decide who may read, on a fresh fold; views only propose.
//   - What is read is recorded before it is answered. A conversation that a caller may not read is "not found".
//
// Start reading at [Conversations.AppendTurn], then reader.go.
package conversations
