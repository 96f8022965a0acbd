// Package putaway moves old entries of a record into segments, while no server runs.
//
// Invariants:
//   - A crash between two steps leaves every entry in the database, or in a segment of which the record says that it was written; the next call finishes.
//   - A segment was verified before an entry is removed from the database.
//
// Start reading at [Record.PutAway].
package putaway
