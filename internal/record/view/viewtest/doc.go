// Package viewtest is the test suite of every view store: stories that use the rules and a real ledger, and random ones
// compared with a model that folds everything again.
//
// Invariants:
//   - The suite asserts only what the contract says; it waits for positions, so that a store may lag.
//   - It resolves conflicts and unknown outcomes, so that a ledger may have them.
//
// Start reading at [Run].
package viewtest
