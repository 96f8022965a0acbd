// Package conversation holds the rules for conversations: what was said, by whom, across all the agents that took
// part, and the condensed text that carries it on to the next one. One conversation is one stream (conversation/ID);
// its [State] is the fold of its events.
//
// May import: the standard library without I/O, refusal, fact for task ids, memory for who asks, and registry for
// names. It never reads a clock: now is an input.
//
// Invariants:
//   - Turns are only ever appended. They are numbered from 1, in the order of the record.
//   - An agent speaks for itself; only operators log what others said.
//   - Those may read and add to a conversation who have spoken in it or hold one of its tasks. Whoever begins it
//     needs neither.
//   - A State is immutable and may be shared; appending to it costs the same however long it is.
//   - [Continuity] gives the same text for the same input, never longer than its budget, in which no turn can pass
//     itself off as another.
//
// Start reading at [State] and [Decide], then [Continuity].
package conversation
