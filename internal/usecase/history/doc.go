// Package archive is use cases of looking: at tasks; back at a task's trail, exports of the record, what each hop kept and
// dropped, and the stream of events as they happen; and ahead at the envelope that a receiver would get.
//
// Invariants:
//
//   - That somebody has looked is on record before the answer.
//   - Nothing here changes a task.
//
// Start reading at [Archive.Trail], then [Archive.Export].
package history
