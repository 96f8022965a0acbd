// Package wake says how far views are, and wakes those who wait for a position or watch for changes.
//
// Invariants:
//   - Who sees a position finds the watchers of what led there called.
//   - A waiter that leaves leaves nothing behind.
//
// Start reading at [Hub].
package wake
