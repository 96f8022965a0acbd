// Package presence keeps the time at which each agent was last heard from, in memory only; the servers of one record tell each other.
//
// Invariants:
//   - After a restart every agent counts as heard from at the start.
//   - Servers exchange ages, not times: their clocks may differ.
//
// Start reading at [Presence].
package presence
