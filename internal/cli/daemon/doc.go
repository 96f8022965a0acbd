// Package daemon starts a server in the background if none runs, and stops the server of a data directory.
//
// Invariants:
//   - The server of a data directory holds a lock there while it serves, whether it was started here or by hand. Only the process that
//     holds the lock is ever asked to stop.
//   - Of several processes that start a server at once, one does, and the others wait for it.
//   - A server that is started here shares nothing with the process that started it: no session, no streams, no open files.
//   - Its log can be read by its owner alone, and is limited in size.
//
// Where to change what:
//   - ensure.go: when a server is started, and how long it is waited for; spawn.go: what it gets
//   - lock.go: what a data directory says of its server; stop.go: how long a server has to stop
//   - log.go: the size of a log
//   - system_unix.go, system_other.go: locks, and how a process is detached and stopped, by operating system
//
// Start reading at [Ensure], then [Hold] and [Stop].
package daemon
