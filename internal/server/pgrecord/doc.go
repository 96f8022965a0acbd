// Package pgrecord moves records into PostgreSQL, and gives what a backup is made of.
//
// Invariants:
//   - A database that has a record is not changed.
//   - The entries are there all or none, at their positions, and were compared with what they were before.
//
// Start reading at [Record.Fill].
package pgrecord
