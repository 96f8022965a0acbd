// Package sqlitelog implements the ledger in one embedded SQLite file; there is nothing to install.
//
// The writer owns the only connection that writes. Its goroutine takes all waiting appends at once, without a delay (options.go says how many), checks each
// against the head of its stream, inserts those that pass, lets the [Projector] update the views, and commits everything in
// one transaction with one fsync. Then it answers the appends and wakes the followers. An append that finds nobody writing does all this on its own goroutine.
//
// The tables of the views may lack entries that the projector has in memory. They are written when they are read ([Log.Flush]), and after a crash the entries are
// projected again.
//
// A projector never vetoes an entry: if it fails, its own work is rolled back, the entries are committed, and the views are
// stale ([Log.Stale]) until [Log.CatchUp] or [Log.Rebuild] succeeds.
//
// Invariants:
//   - No append returns before the fsync of its transaction.
//   - Positions have no gaps here (the contract allows them).
//   - A read fails, and names the position ([ledger.Damaged]), where the bytes, the position or the stream of an entry were changed, or where an entry
//     is missing. A read cannot notice that the index lacks the last entries of a stream. So each frame has a sum over
//     the index, and a file whose index does not have that sum is not opened ([IndexError]).
//   - If the file ends before the number of acknowledged entries that the caller gives ([Options].Acknowledged), nothing is written, so that no
//     position is given twice.
//   - After an I/O error nothing is written until a restart: only recovery establishes what the disk holds. A full disk is
//     not such an error: the transaction is rolled back, and writing continues once there is space. Until then, what is appended
//     without a compare-and-set, such as reads of content, goes on in the space of the reserve.
//   - One process per directory, guarded by a lock of the directory, and of a file in it that names the process.
//
// Files: NAME (the database), NAME-wal and NAME-shm (of SQLite), NAME.lock (which contains the process id of its holder),
// and NAME.reserve (space on the disk, see [Options].Reserve).
//
// Entries are stored in frames (package frame), those of up to 8 KiB compressed. The number of the format of a data directory is [Format].
//
// Where to change what:
//   - options.go: the defaults and sizes: free space below which changes are refused, entries in one transaction, caches, when
//     the write-ahead log is copied
//   - health.go: what is refused on a full or failing disk; package reserve: the space that is kept for reads, whose
//     size is set in server/server.go
//   - queue.go: which of the waiting appends the writer takes next; responder.go: how fast they are answered
//   - log.go: what is refused when the file is opened; package filelock: the locks, and how long they are waited for
//   - schema.go: the tables, the number of the format, and the settings of SQLite
//   - projection.go: what happens when views fail or lag; index.go: when the sum that shows lost rows is checked (package indexsum: what it sums)
//   - scan.go: how a verification reads; scrub.go: how erased content leaves the files; copy.go: how a backup is restored into a log
//   - read.go: reads of a running server; reader.go: reads of a file that another program writes, or of a copy; package headcache: where streams
//     end
//   - putaway.go: how entries leave the file for a segment, and how they are read from there
//   - database.go: a SQLite file for views of another ledger; package sqlconn: how the driver is called; package walbuffer: how a commit is written; disk_unix.go: which errors mean that a disk is full
//
// Start reading at [Open], then writer.go.
package sqlitelog
