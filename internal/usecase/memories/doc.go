// Package memories is the use cases of memory items: store, revise, find, forget. [Store] is the items as other use cases reach
// them: what of them goes into an envelope.
//
// Invariants:
//   - The rules of memory decide who may read, on a fresh fold; views only propose.
//   - A part in a task counts while the task lives, and what an envelope grants while its task is in the reader's hands.
//     Both are looked up at each call and never kept.
//   - What is read is recorded before it is answered. An item that a caller may not read is "not found".
//   - Nothing goes into an envelope that its sender may not read; by itself goes in only what is for everybody in the
//     workspace or in the scope of the very task.
//   - Embeddings (meaning.go) are never needed: where they fail or are late, a search goes by words alone.
//   - A forgotten item gives out nothing, not even as the repeated answer to an old call.
//
// Start reading at [Memories.Show], then reader.go; for envelopes at [Store.Gather].
package memories
