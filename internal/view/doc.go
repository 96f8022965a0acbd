// Package view is the contract of what things look like: lists, inboxes and what is due, derived from the record and
// rebuilt from it at any time. No decision relies on a view being up to date; those read a task's stream.
//
// May import: ledger and the domain's types. Its technology is in sqlview, and must pass viewtest.
//
// Invariants:
//   - A view equals what a rebuild from the ledger would give.
//   - A reader that waits for a position sees everything up to it.
//   - Nothing of one workspace is ever in an answer for another.
//
// Start reading at [Board].
package view
