// Package history is the use cases of the past: the trail of a task, exports, what each hop kept and dropped, and the stream of
// events as they happen. The HTTP API and the command line group them as "audit".
//
// Invariants:
//   - A read is recorded before the answer.
//   - Nothing here changes a task.
//
// Start reading at [History.Trail], then [History.Export]; the formats of exports are in record/view/export.go.
package history
