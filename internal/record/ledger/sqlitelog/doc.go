// Package sqlitelog is the embedded ledger: one SQLite file, nothing to install.
//
// One goroutine, the writer, owns the only connection that writes. It takes all waiting appends at once, checks
// each against the head of its stream, inserts those that pass, lets the [Projector] bring the views up to date,
// and commits everything in one transaction with one fsync. Then it answers everyone and wakes the followers.
//
// A projector never vetoes an entry: if it fails, its own work is rolled back, the entries are committed, and the
// views are stale ([Log.Stale]) until [Log.CatchUp] or [Log.Rebuild] has succeeded.
//
// Invariants:
//   - No answer leaves before the fsync of its transaction.
//   - Positions have no gaps here (the contract would allow them).
//   - After an I/O error nothing is written until a restart: what the disk holds is only known after recovery. A
//     full disk is no such error: the transaction is rolled back and writing goes on when there is space.
//   - One process per file, guarded by a lock beside it.
//
// Files: NAME (the database), NAME-wal and NAME-shm (SQLite's), NAME.lock (whose content is the holder's process id).
//
// Start reading at [Open], then writer.go.
package sqlitelog
