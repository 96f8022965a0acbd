// Package conversations has the use cases of conversations: what was said across agents, and the continuity text, which lets the
// next agent carry on. [Store] gives other use cases the conversations.
//
// Invariants:
//   - The rules of conversations decide who may read, on a fresh fold; views only propose.
//   - What is read is recorded before it is answered. A conversation that a caller may not read is "not found".
//   - What a name means depends only on the agent that uses it and on the task that it names, so that nobody else can change it. A task and a memory item keep the id
//     of the conversation that its name meant when they were made.
//
// Where to change what:
//   - reader.go: who may read which turns, and is told of them; resolve.go: which conversation a name means
//   - continuity.go: how long the continuity text is where a call asks for it (in an envelope: memories/gather.go); condense.go: from which tasks it is made; how turns are
//     shortened is in conversation/continuity.go
//   - search.go: how much one search reads
//   - append_turn.go: which conversation a turn is for, and who may begin it; who may speak, and the limits of turns, are decided in conversation/decide.go
//   - conversations.go: how many turns or conversations a page has where the caller does not say; store.go: how many conversations are kept in memory, and how many idempotency keys one remembers
//
// Start reading at [Conversations.AppendTurn], then reader.go.
package conversations
