// Package positions is how far the ledger and the views that follow it have come, for callers that wait for their own writes.
//
// Invariant: a position beyond the newest entry is refused, because it is of another ledger.
//
// Where to change what:
//   - positions.go: what makes the record not ready or read-only, which httpapi/health.go answers
//
// Start reading at [Positions].
package positions
