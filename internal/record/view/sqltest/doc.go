// Package sqltest opens an embedded record with its views for a test of a room above them, and closes both when the test ends.
//
// Invariants:
//   - Only tests import it. What it opens is the test's alone, in a directory of its own.
//
// Start reading at [Open].
package sqltest
