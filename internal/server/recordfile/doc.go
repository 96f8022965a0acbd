// Package recordfile opens the record of a data directory for a verifier, with its views, keys and artifacts, also while a server runs there.
//
// Invariants:
//   - Nothing is written.
//   - What a running server changes meanwhile is no finding.
//
// Start reading at [Open].
package recordfile
