// Package backup has the commands that copy a data directory into a file, while its server runs, and back, and that put old entries away.
//
// Invariants:
//   - A file that was written has everything: a backup that ends early leaves none.
//   - What does not verify is not restored: the exit code is 1, and there is no data directory.
//
// Start reading at [Command].
package backup
