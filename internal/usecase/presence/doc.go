// Package presence is when agents were last heard of. It is kept in memory alone.
//
// Invariant: after a restart every agent counts as heard of at the start.
//
// Start reading at [Presence].
package presence
