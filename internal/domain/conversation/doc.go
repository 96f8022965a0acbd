// Package conversation holds the rules for conversations: the messages of all agents that took part, and the continuity
// text that informs the next agent. One conversation is one stream (conversation/ID);
// its [State] is the fold of its events.
//
// It never reads a clock: now is an input.
//
// Invariants:
//   - Turns are only ever appended. They are numbered from 1, in the order of the record.
//   - An agent speaks for itself; only operators log what others said.
//   - An agent may read a conversation if it is its own, if it has spoken there, or if it owns a task that belongs to the
//     conversation or whose envelopes include it. It may append if it is its own, if it has spoken there, or if it requested or owns a task, not ended,
//     that belongs to it and lets it read it. Whose own it is, is in its id: see conversationid/conversationid.go.
//   - A State is immutable, small, and may be shared: it knows who spoke how often, not what was said.
//   - [Continuity] gives the same text for the same input, never longer than its budget, in which no turn can pass
//     itself off as another.
//
// Where to change what:
//   - decide.go: the limits of turns and of a conversation, and who may speak
//   - continuity.go: the continuity text: which turns it has, in which order, and how they are shortened; how long it may be is in
//     conversations/continuity.go for a call, and in memories/gather.go in an envelope
//   - state.go: who may read; what is found of turns is in usecase/conversations
//   - event.go: the events of a conversation, and what each changes
//
// Start reading at [State] and [Decide], then [Continuity].
package conversation
