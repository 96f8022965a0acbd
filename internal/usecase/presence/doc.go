// Package presence keeps the time at which each agent was last heard of, in memory; the servers of one record tell each other, in PostgreSQL by a table.
//
// Invariants:
//   - After a restart an agent counts as heard of at the start, unless another server, or the database that they share, tells when it was.
//   - Servers exchange ages, not times: their clocks may differ.
//
// Start reading at [Presence].
package presence
