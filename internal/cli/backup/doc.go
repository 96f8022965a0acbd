// Package backup has the commands that copy a data directory into a file, while its server runs, and back, and that put old entries away.
//
// Invariants:
//   - A file that was written has everything: a backup that ends early leaves none.
//   - What does not verify is not restored: the exit code is 1, and there is no data directory.
//
// Where to change what:
//   - backup.go: the flags of a backup, such as its rate, and their defaults; restore.go: what is said of one that is restored (into which directories: server/backup.go); putaway.go: the command put-away. What a backup has,
//     and how the rate is kept, is in server/backup.go
//
// Start reading at [Command].
package backup
