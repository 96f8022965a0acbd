// Package tail keeps the newest entries of a ledger in memory, so that followers that keep up neither read the database nor decode an entry.
//
// Invariants:
//   - What a [Tail] holds is contiguous and ends at its position; entries before it are read from the database.
//   - Memory is bounded by [MaxEntries] and [MaxBytes].
//
// Start reading at [Tail].
package tail
