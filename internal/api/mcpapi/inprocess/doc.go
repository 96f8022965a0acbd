// Package inside is HTTP without a network: requests of a handler in the same process.
//
// Invariants:
//   - No more than 64 KiB of an answer is kept before it is read: one that streams, or is larger, is read as it is written.
//   - Whoever closes the body of an answer or ends its context ends the handler's writing.
//
// Start reading at [Transport].
package inprocess
