// Package pglog implements the ledger in a PostgreSQL database (15 or newer), which any number of processes share: the front ends.
//
// The goroutine of the writer takes all appends of its front end that wait, and commits them in one transaction, in two round trips. The first
// locks the only row of the table record, which has the position of the newest entry, and reads where the streams end. The second
// inserts the entries that pass their check, moves that position, sends a notification, and commits. So front ends commit one after the other,
// and positions have no gaps in the order of the commits. The listener, another goroutine, reads what was committed by any front end, once for
// all followers: woken by the notification, and each second (Options.Poll) in case that was lost. While it gets many entries at once it looks for more
// by itself, and hears no notifications: PostgreSQL would wake the session of each listener for each commit.
//
// Invariants:
//   - No append returns before PostgreSQL has made the commit durable, as far as its setting synchronous_commit demands. Each transaction checks that this, fsync and
//     full_page_writes are not off; while one is, nothing is written.
//   - An entry is inserted only below the lock, and a unique index refuses a second entry after the same one of a stream.
//   - If the connection is lost after the commit was sent, or the server answers the commit with a warning, such as that a standby did not
//     answer, the outcome is [ledger.ErrUnknown]. If it is lost before, nothing was written; the next transaction is tried on a new connection.
//   - A database that ends before a position that is known to have been committed has lost entries, as a standby may that was not
//     synchronous: nothing is written until the process is started again, so that no position is given twice. Nothing is written
//     either if another record is in the place of this one.
//   - Entries are in frames, package frame: a read that meets one that was changed, moved or is missing names its position
//     ([ledger.Damaged]). A read of one stream cannot notice that the index lacks its last entries: PostgreSQL's amcheck and data
//     checksums find that. [Log.Read] of the whole record finds every entry that is missing.
//   - Frames have a field for a sum over the index of streams. Package sqlitelog checks that sum when it opens a file; here the field is 0.
//   - No error has a part of the URL that could be secret; connections that leave the machine are encrypted.
//
// The schema belongs to this package: its format is a column of record, checked in each transaction, and a trigger refuses changes of entries.
// Connections of a front end: one that writes, one that listens, and up to four that read (options.go);
// those for what front ends share and for artifacts are counted in server/sharedrecord/postgres.go. They hold sessions, so poolers must pool those, not
// transactions; through another pooler notifications are lost, and followers get entries within the second.
//
// Where to change what:
//   - options.go: the defaults and sizes: entries in one transaction, connections, followers, time limits (when an idle connection is closed is left to pgx: log.go and pool.go), and how often the end of the record is
//     looked up without a notification (Poll)
//   - connect.go: which servers (by version and settings) and URLs are refused; unsent_linux.go: how long a dead connection is waited for
//   - errors.go: which errors mean that nothing was written, and which that the outcome is unknown
//   - health.go: when writing stops; schema.go: the tables and the number of the format
//   - plan.go: the check of a stream's end before an insert; listen.go: how entries of all front ends reach the followers; own.go: which
//     of them are not decoded, since they were appended here
//   - log.go: how a record is opened, and which is refused; read.go: reads; pool.go: the connections for what front ends share
//   - how long the listener waits for more after a round for many: package pace; after which rounds it hears no notifications: options.go
//   - queue.go: the appends that wait for the writer; copy.go: how the record of another ledger is copied here
//
// Start reading at [Open], then writer.go and listen.go.
package pglog
