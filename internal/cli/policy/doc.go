// Package dispatch is the commands about where a task goes: saying what is to be done.
//
// Invariants:
//   - What a command asks the server, reads and prints goes through shell, so it is the same for all.
//   - Every command shows an example in its help.
//
// Start reading at [Commands].
package policy
