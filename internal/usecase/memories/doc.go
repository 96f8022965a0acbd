// Package knowledge is the use cases of what is known: memory items and conversations, who may read and change them,
// how they are found, and what of them goes into an envelope.
//
// Invariants:
//   - Who may read is decided by the rules of memory and conversation, on a fresh fold; views only propose.
//   - A part in a task counts while the task lives, and what an envelope grants while its task is in the reader's hands.
//     Both are looked up at each call and never kept.
//   - What is read is on record before it is answered. What a caller may not read is not there.
//   - Nothing goes into an envelope that its sender may not read; by itself goes in only what is for everybody in the
//     workspace or in the scope of the very task.
//   - A forgotten item gives out nothing, not even as the repeated answer to an old call.
//
// Start reading at [Base], then reader.go; for envelopes at [Base.Gather].
package memories
