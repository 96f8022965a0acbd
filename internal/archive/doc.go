// Package archive is use cases of looking back: a task's trail, exports of the record, what each hop kept and dropped, and
// the stream of events as they happen.
//
// Invariants:
//
//   - That somebody has looked is on record before the answer.
//   - Nothing here changes a task.
//
// May import: the domain, docket, drift, ledger, stream, access, view and caller.
//
// Start reading at [Archive.Trail], then [Archive.Export].
package archive
