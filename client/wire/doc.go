// Package wire makes the requests of package client: one attempt and its repetitions, transfers of files, and streams of events
// that resume after a failure.
//
// Invariants:
//   - A file that is sent or fetched has the digest of its name, or the call fails.
//   - A request is repeated only after an error that may pass, and under the same idempotency key.
//
// Start reading at [Conn.Retry].
package wire
