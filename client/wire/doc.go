// Package wire makes the requests of package client: one attempt, and how it is made again.
//
// May import: the standard library only.
//
// Invariants:
//   - An attempt is made again only where its error says that it may pass, and under the same idempotency key.
//
// Start reading at [Conn].
package wire
