// Package moves has the use cases of a workspace that moves alone from one record to another: leave, write the file, import it.
//
// Invariants:
//   - The source takes no change from the first step on, for good, and the other server takes changes after its last step alone: never do both.
//   - Each step may be repeated after any interruption, and goes on where it ended.
//   - Each entry is here once, whatever several front ends import at once: an append expects what it follows.
//   - Nothing is written before the whole file is verified. Entries are appended as they are, in their order.
//
// Where to change what:
//   - leave.go: how the source stops, and what it signs; write.go: what the file has; import.go: what is refused, and when the workspace has arrived
//   - append.go: how an interrupted import goes on; parts.go: where the file is read from
//   - moves.go: what is shown of a move. The rules are in workspace/move.go, the file in record/move
//
// Start reading at [Moves.Leave], then [Moves.Import].
package moves
