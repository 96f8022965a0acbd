// Package memories is the use cases of memory items: store, revise, find, forget. [Store] is the items as other use cases reach
// them: what of them goes into an envelope.
//
// Invariants:
//   - The rules of memory decide who may read, on a fresh fold; views only propose.
//   - An agent may read items of a task's scope while it has a part in the task and the task has not ended, and items of an
//     envelope while it owns the envelope's task. Both are looked up at each call and never kept.
//   - What is read is recorded before it is answered. An item that a caller may not read is "not found".
//   - Nothing goes into an envelope that its sender may not read. An item that the sender does not name goes in only if its
//     scope is the workspace, or that task.
//   - Embeddings (meaning.go) are never needed: where they fail or are late, a search goes by words alone.
//   - A forgotten item gives out nothing, not even as the repeated answer to an old call.
//
// Start reading at [Memories.Show], then reader.go; for envelopes at [Store.Gather].
package memories
