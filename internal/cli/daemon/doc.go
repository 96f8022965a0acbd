// Package daemon starts a server in the background where none runs, and ends the one that serves a data directory.
//
// Invariants:
//   - Who serves a data directory holds a lock there for as long as it does, whether it was started here or by a person.
//     Only the process that holds it is ever asked to end.
//   - Of several that start a server at once, one does and the others wait for it.
//   - A server that is started here has nothing of its starter's: not its session, not its streams, no file of its.
//   - Its log is its owner's alone, and bounded.
//
// Start reading at [Ensure], then [Hold] and [Stop].
package daemon
