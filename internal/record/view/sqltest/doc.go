// Package sqltest opens an embedded ledger with its views for the tests of other packages, and closes both when the test
// ends.
//
// Invariants:
//   - Only tests import it. Each test has a ledger of its own, in a directory of its own.
//
// Start reading at [Open].
package sqltest
