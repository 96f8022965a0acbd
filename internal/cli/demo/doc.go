// Package demo shows Trapeze at work: four programs make a documentation report on a Go module's source, each handing
// on to the next; on the way a worker is killed, a stage turns its offer down, a handoff goes to the dead letters and is
// replayed, and a result is refused and mended. Each program gets what fits its agent's context window, and fetches the
// rest. Server and workers are real, and so are the mishaps: nothing is played back.
//
// Invariants:
//   - Nothing leaves this machine's loopback, and no language model is needed.
//   - The story is told from the record as it grows, not from what the demo knows it has arranged. What is said at its end
//     is read back from the server, and is an error where it is not so.
//   - Every process that was started is ended, whichever way the demo ends.
//
// Start reading at [Run], then program.go and act.go for the programs that do the work, and record.go for the end.
package demo
