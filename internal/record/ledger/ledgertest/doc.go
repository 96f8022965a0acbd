// Package ledgertest is the conformance suite of ledgers, and a ledger in memory for tests of other packages.
//
//   - [Run] is the conformance suite; [RunDurable] adds the tests that close and reopen a ledger.
//   - [Double] is a ledger in memory that behaves like a distributed log: followers lag, positions have gaps, conflicts may
//     be spurious and outcomes unknown. It also runs in testing/synctest bubbles.
//   - [FrontEnds] are several front ends of one record, which together must pass the suite, too.
//   - [Put] appends as a real client must: it resolves unknown outcomes and spurious conflicts.
//   - [Turn] is the turn of a call.
//   - [Load] and [RawSync] measure, with the fsync of the disk as the baseline.
//
// Invariants:
//   - The suite asserts only what the contract says, so that a distributed ledger can pass it.
//   - With all rates at zero the Double has no faults: a test that fails on it shows a bug of the caller.
//
// Where to change what:
//   - suite.go, suite_read.go: what every ledger must do; prepare.go: what ledgers that servers share must, too; double.go, double_read.go: the faults of the double
//   - frozen.go: bytes that must stay readable; frontends.go: several front ends of one record; turn.go: the turn of a call; benchmark.go: what is measured
//
// Start reading at [Run], then [Double].
package ledgertest
