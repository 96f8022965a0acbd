// Package wire makes the requests of package client: one attempt and its repetitions, transfers of files, and streams of events
// that resume after a failure.
//
// Invariants:
//   - A file that is sent or fetched has the digest of its name, or the call fails.
//   - A request is repeated only after an error that may pass, and under the same idempotency key.
//
// Where to change what:
//   - conn.go: how long the pauses between attempts are, and when no further attempt is made; how many attempts there are is an
//     option of client/client.go
//   - servers.go: when calls go on with another address
//   - problem.go: how an answer becomes a refusal, and how long a wait that the server asks for (Retry-After) may be
//   - stream.go: how a stream of events resumes, and how long one may be silent (three heartbeats of the server, whose interval is in httpapi/httpapi.go); transfer.go: when a transfer has stood still for too long
//   - tls.go: what is said of certificates that do not fit
//   - key.go: the idempotency key; receipt.go: the receipt of a change
//   - http.go: idle connections, the time for a new one, and what redirects take; query.go, duration.go: how parameters and durations are written
//
// Start reading at [Conn.Retry].
package wire
