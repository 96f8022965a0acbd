// Package sqlview keeps the views in SQLite: inside the embedded ledger's own transactions ([OpenEmbedded]), or in a
// database of their own that follows any ledger ([Follow]). The projection is the same code in both.
//
// The projector folds each stream as the rules do and keeps the recently changed ones in memory. What an entry
// changes in the tables is the difference between what they hold and what the fold now says, worked out in memory and
// written once per task and batch. A stream that is not in memory is folded anew from the ledger.
//
// Memory and conversations have tables and queries of their own, in package search.
//
// Invariants:
//   - What the tables hold depends on the entries alone, never on how they were batched or what was in memory.
//   - Nothing here scans all tasks: starting, projecting and listing take as long with a million finished ones.
//   - Whoever waits holds no connection.
//
// Start reading at [Views], then project.go.
package sqlview
