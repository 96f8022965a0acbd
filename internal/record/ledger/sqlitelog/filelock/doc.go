// Package filelock has the lock by which one process at a time has a database: of a file beside it, and of its directory.
//
// Start reading at [Await].
package filelock
