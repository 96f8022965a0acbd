// Package wire makes the requests of package client: one attempt, and how it is made again; contents that are sent
// and fetched as they are; and streams of events that are read on from where they broke.
//
// Invariants:
//   - What is sent or fetched as it is has the digest that it is known by, or there is an error.
//   - An attempt is made again only where its error says that it may pass, and under the same idempotency key.
//
// Start reading at [Conn.Retry].
package wire
