// Package witness has the command that runs a witness of logs (c2sp.org/tlog-witness): it cosigns checkpoints that are consistent with all that it has
// cosigned before, and refuses others.
//
// Invariants:
//   - The checkpoint is on the disk before its cosignature is answered. Comparing with the last one and writing are one step for each log.
//   - Nothing but the checkpoints of logs whose keys are configured is kept.
//   - A directory belongs to one process: two would cosign what forks. Where there are no file locks, as on Windows, nothing guards that.
//
// Where to change what:
//   - command.go: the flags and the address; http.go: the requests and the status of each answer; witness.go: which checkpoints are cosigned (what a checkpoint has, and that it has no time: proof/checkpoint.go)
//   - lock_unix.go, lock_other.go: that a directory belongs to one process
//
// Start reading at [Command], then [Witness.Add].
package witness
