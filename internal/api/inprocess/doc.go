// Package inprocess is HTTP without a network: an [http.RoundTripper] that calls a handler in the same process.
//
// Invariants:
//   - At most 64 KiB of a response are buffered: a response that is larger, or that flushes, streams.
//   - Closing the body of a response, or ending its context, ends the writes of the handler.
//
// Start reading at [Transport].
package inprocess
