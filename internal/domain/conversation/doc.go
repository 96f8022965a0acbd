// Package conversation holds the rules for conversations: what was said, by whom, across all the agents that took
// part, and the condensed text that carries it on to the next one. One conversation is one stream (conversation/ID);
// its [State] is the fold of its events.
//
// It never reads a clock: now is an input.
//
// Invariants:
//   - Turns are only ever appended. They are numbered from 1, in the order of the record.
//   - An agent speaks for itself; only operators log what others said.
//   - Those may read and add to a conversation who have spoken in it, or hold one of its tasks or one that carries it
//     along. Whoever begins it needs neither.
//   - A State is immutable, small, and may be shared: it knows who spoke how often, not what was said.
//   - [Continuity] gives the same text for the same input, never longer than its budget, in which no turn can pass
//     itself off as another.
//
// Start reading at [State] and [Decide], then [Continuity].
package conversation
