// Package filestore stores artifacts as files: DIR/data/WORKSPACE/ab/abcdef…, written to a temporary file and renamed.
//
// Invariants:
//   - Only one process uses a directory; the lock of the ledger in the same data directory ensures that.
//   - A file under data is complete and on disk, whatever crashes. Unfinished files are in DIR/new, which Open empties.
//   - Only their owner can read and write the files, and no path leads out of DIR, not even through symbolic links.
//   - No workspace exceeds its quota, and nothing is put while the disk is nearly full: the record needs the space.
//   - The modification time of a file is the time at which it was last put or touched.
//
// Where to change what:
//   - filestore.go: the free space below which files are refused (the record has its own in sqlitelog/options.go); space.go: how
//     use is counted
//
// Start reading at [Open].
package filestore
