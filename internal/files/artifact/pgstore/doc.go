// Package pgstore stores artifacts in a PostgreSQL database, which any number of processes share: in the table artifact, with the
// content in pieces of at most 256 KiB in the table artifact_piece.
//
// Invariants:
//   - Content that is being put has a number of its own, and belongs to no artifact until a transaction says so: that one checks the quota, below a
//     lock of the workspace, and commits. So an artifact is complete, whatever ends.
//   - The memory for content on its way is one piece for each call.
//   - Content that was put again is compared with what is there, and takes its place only if that was damaged: readers go on.
//   - Content that belongs to nothing, since a process ended while it was put, is deleted by a later sweep.
//   - When an artifact was last put or touched is by the clock of the process that did so.
//
// Start reading at [Open].
package pgstore
