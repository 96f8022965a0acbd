// Package view is the contract of what things look like: lists, inboxes and what is due, derived from the record and
// rebuilt from it at any time. No decision relies on a view being up to date; those read a task's stream.
//
// Its technology is in sqlview, and must pass viewtest.
//
// Invariants:
//   - A view equals what a rebuild from the ledger would give.
//   - A reader that waits for a position sees everything up to it.
//   - An inbox says up to where it is complete, as it was read: what comes later has a later position, an offer that is made
//     again too.
//   - Nothing of one workspace is ever in an answer for another.
//   - What a search finds its asker may read: pages are cut after that question, not before.
//
// Search by meaning, when it comes, is one more way to rank what [Recall] finds: the filter gets a vector beside its
// text, the technology an index beside that of words, fed by a follower because vectors come from outside and are no
// fold of the record. Who may read what stays where it is.
//
// Start reading at [Board], for what is known at [Recall].
package view
