// Package filelock says whether this process may have a database: by the lock of a file beside it and of its directory, which one process has
// at a time, and by journals beside it that Trapeze does not make.
//
// Where to change what:
//   - filelock.go: how long a lock is waited for; lock_unix.go: what is locked; journal.go: which journals are refused
//
// Start reading at [Await].
package filelock
