// Package walbuffer has SQLite write the frames of a commit by one call instead of two for each page: it is a VFS, over that of the system, which keeps consecutive writes
// to a write-ahead log until something else is done with the file.
//
// Invariants:
//   - Every other operation on the file first hands on what is kept, in its order, and fails if that cannot be written. So what is read through the handle is what was written before, and a
//     commit whose frames were not taken fails.
//   - Other connections are shown only what is in the file: SQLite syncs the log before it changes the index by which they read. It does so with synchronous FULL, so a connection with
//     this VFS needs that.
//   - Nothing is written without the lock of the writer: what is still kept when the lock is let go, of a transaction that was rolled back, is dropped.
//
// Start reading at [Name].
package walbuffer
