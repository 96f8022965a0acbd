// Package verify has the command that verifies receipts and data directories, without a server and without a network.
//
// Invariants:
//   - Nothing is written beside what is verified.
//   - What does not verify is an error of the command: its exit code is 1.
//   - What could not be read, or could not be compared for lack of space, is not reported as damage; the exit code is 6.
//
// Where to change what:
//   - command.go: the flags, what is checked in which order, and what is printed of a data directory, also if nothing is wrong with it
//   - receipt.go: what is printed of a receipt; outcome.go: how findings are printed, and which errors mean that the verification could not be finished
//   - What of a record is compared is decided in record/proof/verify.go. witness.go: which cosignatures a receipt, a checkpoint, a segment or a directory
//     must have (counted in proof/cosignature.go); segment.go: segments, also by themselves; keys.go, artifacts.go: these files beside the record
//
// Start reading at [Command].
package verify
