// Package server assembles the server: configuration, wiring, and the order in which parts start and stop.
//
// Invariants:
//   - One process per data directory.
//   - Nothing listens before the record is open and the views are up to date; nothing is closed before the calls
//     in progress have ended; the record is closed last.
//   - The data directory and all in it belong to its owner alone.
//
// Start reading at [Open] and [Run].
package server
