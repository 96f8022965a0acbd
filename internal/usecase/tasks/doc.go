// Package app is the use cases: one file per verb. Each takes a [Caller], who comes from the credential and never
// from the request, checks what the caller may do, loads the task or agent as the fold of its stream, lets the rules
// decide, appends, and answers with a [taskstore.Receipt].
//
// Invariants:
//   - Nothing changes except by one ledger entry per decision; the answer follows the entry to disk.
//   - A refusal is given only after a fresh read of the stream, so that a stale cache never refuses what is allowed.
//   - A call repeated with its idempotency key gives the first outcome; with another body it is refused.
//   - Reads of content and exports are on record, durably, before they are answered; refused attempts are on record,
//     rate-limited and counted.
//   - A task or agent of another workspace, or one that the caller has no part in, is "not found".
//
// Start reading at [App], then package docket (how every change is made), then accept.go.
package tasks
