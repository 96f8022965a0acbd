// Package view defines the views: lists, inboxes and timers, derived from the record and rebuilt from it at any time. No
// decision relies on a view being current; decisions read the stream of a task.
//
// The implementation is sqlview, which must pass the tests of viewtest.
//
// Invariants:
//   - A view equals the result of a rebuild from the ledger.
//   - A reader that waits for a position sees everything up to it.
//   - An inbox states the position up to which it is complete. An item that comes later has a later position, also an offer
//     that is made again.
//   - No answer for one workspace contains anything of another.
//   - A search returns only items that its caller may read: pages are cut after that test, not before.
//
// Searches by meaning go by [MemoryVectors]. Vectors come from outside and are no fold of the record, so they are kept beside the
// views. The rules of who may read an item are the same.
//
// Start reading at [TaskQueries], or at [MemoryQueries] for memory items and conversations.
package view
