// Package stream is how everything changes: load a stream as the fold of its entries, let the rules decide, append
// with compare-and-set, and decide again where somebody else was first.
//
// Invariants:
//   - One decision is one entry, or nothing.
//   - A refusal, or that nothing needs to change, is answered only after a fresh read of the stream, so that a stale
//     cache never refuses what is allowed and never confirms what is over.
//   - A call repeated with its idempotency key gives the first outcome; with another body it is refused. Streams that do
//     not end forget keys that are older than the newest so many: see [Options].
//   - A fold in the cache is read by many at once and never changes: a fold function may change the state itself in place,
//     but nothing that the state points to (see [Options]).
//   - An entry of unknown outcome is looked for before anybody is told that it is unknown.
//
// Start reading at [Kind.Do].
package stream
