// Package server puts the house together: configuration, wiring, and the order in which things start and stop.
//
// Invariants:
//   - One process per data directory.
//   - Nothing listens before the record is open and the views are up to date; nothing is closed before the calls
//     under way have ended, the record last.
//   - The data directory and all in it belong to its owner alone.
//
// Start reading at [Open] and [Run].
package server
