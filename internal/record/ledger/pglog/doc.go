// Package pglog implements the ledger in a PostgreSQL database (15 or newer), which any number of processes share: the front ends.
//
// The goroutine of the writer takes all appends of its front end that wait, and commits them in one transaction, in two round trips. The first
// locks the only row of the table record, which has the position of the newest entry, and reads where the streams end. The second
// inserts the entries that pass their check, moves that position, sends a notification, and commits. So front ends commit one after the other,
// and positions have no gaps in the order of the commits. The listener, another goroutine, reads what was committed by any front end, once for
// all followers: woken by the notification, and each second in case that was lost.
//
// Invariants:
//   - No append returns before the server has done for the commit what synchronous_commit says. Each transaction checks that this, fsync and
//     full_page_writes are not off; while one is, nothing is written.
//   - An entry is inserted only below the lock, and a unique index refuses a second entry after the same one of a stream.
//   - If the connection is lost after the commit was sent, or the server warns about it, as it does for a standby that did not answer, the
//     outcome is [ledger.ErrUnknown]. If it is lost before, nothing was written; the next transaction is tried on a new connection.
//   - A database that ends before a position that is known to have been committed has lost entries, as a standby may that was not
//     synchronous: nothing is written until the process is started again, so that no position is given twice. The same holds for another record in the place of this one.
//   - Entries are in frames, package frame: a read that meets one that was changed, moved or is missing names its position
//     ([ledger.Damaged]). That an index lacks the last entries of a stream, no read of that stream can notice: that is for PostgreSQL's amcheck and
//     its data checksums. [Log.Read] of the whole record finds every entry that is missing.
//   - The sum over the index of streams in a frame is 0 here.
//   - No error has a part of the URL that could be secret; connections that leave the machine are encrypted.
//
// The schema belongs to this package: its format is a column of record, checked in each transaction, and a trigger refuses changes of entries.
// Connections of a front end: one that writes, one that listens, and up to four that read. They hold sessions, so poolers must pool those, not
// transactions; through another pooler notifications are lost, and followers get entries within the second.
//
// Start reading at [Open], then writer.go and listen.go.
package pglog
