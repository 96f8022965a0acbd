// Package positions tells how far the ledger and the views that follow it have come, for callers that wait for their own writes.
//
// Invariant: a position beyond the newest entry is refused, because it is of another ledger.
//
// Where to change what:
//   - positions.go: when the record is unready, and when it is read-only; httpapi/health.go answers that
//
// Start reading at [Positions].
package positions
