// Package ledgertest is the proof that every ledger must pass, and what tests of other rooms need of a ledger.
//
//   - [Run] is the conformance suite; [RunDurable] adds what must survive closing and opening again.
//   - [Double] is a ledger in memory that behaves like a distributed log: followers lag, positions have gaps,
//     conflicts may be spurious and outcomes unknown. It also runs in testing/synctest bubbles.
//   - [Put] appends as a real client must: it resolves unknown outcomes and spurious conflicts.
//   - [Load] and [RawSync] measure, with the disk's own fsync as the yardstick.
//
// Invariants:
//   - The suite asserts only what the contract says, so that a distributed ledger can pass it.
//   - With all rates at zero the Double never lies: what fails on it is the caller's bug.
//
// Start reading at [Run], then [Double].
package ledgertest
