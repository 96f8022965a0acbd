// Package known keeps what is known, memory items and conversations, in tables of the views' database, and answers what is
// asked about it.
//
// It needs no folds of items: an event says what it changes. Their words are in indexes of SQLite's FTS5, which hold a copy
// of the newest versions; a forgotten item is gone from all of it. Who opens the database, follows the ledger and keeps
// the views' position is package sqlview, which also joins these tables with those of tasks.
//
// Invariants:
//   - What the tables hold depends on the entries alone, never on how they were batched.
//   - No question looks at everything that is known, unless it is a list of everything.
//   - Nothing is found that the asker may not read, as memory.MayRead says.
//
// Start reading at [Schema] and [Writer], then at [Recall.Memory].
package search
