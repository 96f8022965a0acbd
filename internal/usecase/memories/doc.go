// Package memories has the use cases of memory items: store, revise, find, forget. [Store] gives other use cases the items: what of them goes into an envelope.
//
// Invariants:
//   - The rules of memory decide who may read, on a fresh fold; views only propose.
//   - An agent may read items of a task's scope while it has a part in the task and the task has not ended, and items of an
//     envelope while it owns the envelope's task. Both are looked up at each call and never kept.
//   - What is read is recorded before it is answered. An item that a caller may not read is "not found".
//   - Nothing goes into an envelope that its sender may not read. An item that the sender does not name goes in only if its
//     scope is the workspace, or that task.
//   - Embeddings (meaning.go) are never needed: where they fail or are late, a search goes by words alone.
//   - The text of a forgotten item is in no answer, not even in the repeated answer to an old call.
//
// Where to change what:
//   - search.go: page sizes, excerpts and the longest query; meaning.go: how hits by words and by meaning are merged, and how
//     much each principal may have embedded. How words are weighed is in sqlview/search/rank.go
//   - gather.go: how many items, pinned items and turns an envelope gets, how long the summary of a conversation is (also one that a sender writes), and who goes first
//   - reader.go: which tasks let a caller read an item; the rule itself is in memory/reader.go
//   - told.go: which callers are told that an item changes
//   - pin.go: how the pins of an agent are counted; how many it may hold, and when one is only proposed: memory/pinning.go
//   - memories.go: what is still shown of a forgotten item, such as since when it is; redact.go, redact_claimed.go: how it is taken out of
//     envelopes, trails and exports; forget.go: that its key is destroyed
//   - forget_for_erasure.go: the same before an erasure; which items an erasure finds is in usecase/erasures/find.go
//   - versions.go, show.go: how much of an item's past is given
//   - weigh.go: the verb that sets an item's importance, not the ranking
//   - change.go: what all verbs that change an item have in common; text.go: who gets a text that an envelope refers to; look.go: how many items
//     one answer looks up
//   - store.go: how many items are kept in memory; the other verbs have files of their names
//
// Start reading at [Memories.Show], then reader.go; for envelopes at [Store.Gather].
package memories
