// Package presence keeps the time at which each agent was last heard from, in memory only.
//
// Invariant: after a restart every agent counts as heard from at the start.
//
// Start reading at [Presence].
package presence
