// Package watch publishes the position of the views, and wakes the goroutines that wait for a position or watch for changes.
//
// Invariants:
//   - A goroutine that sees a position finds that the watchers of its changes have been signalled.
//   - A waiter that gives up leaves nothing behind.
//   - Where many watch for work that one of them takes, a few are woken at a time: see [Hub.Offer].
//
// Start reading at [Hub].
package watch
