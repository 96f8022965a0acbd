// Package verify has the command that verifies receipts and data directories, without a server and without a network.
//
// Invariants:
//   - Nothing is written beside what is verified.
//   - What does not verify is an error of the command: its exit code is 1.
//   - What could not be read, or could not be compared for lack of space, is not said to be damaged: the exit code is 6.
//
// Start reading at [Command].
package verify
