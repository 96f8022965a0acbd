// Package stream changes streams, and so everything: load a stream as the fold of its entries, let the rules decide, append with
// compare-and-set, and decide again if another writer was first.
//
// Invariants:
//   - One decision is one entry, or nothing.
//   - A refusal, or the result that nothing needs to change, is returned only after a fresh read of the stream, so that a
//     stale cache never refuses what is allowed and never confirms what is over. It is decided again if that read finds a newer entry.
//   - A call repeated with its idempotency key returns the first outcome; with another body it is refused. Streams that do
//     not end forget old keys: see [Options].
//   - Readers share a cached fold, so nothing that a state points to ever changes. A fold function gets a copy of the state
//     itself and may change that copy in place (see [Options]).
//   - After [Kind.Learn] of an entry, the cache of that [Kind] takes no fold that lacks the entry, not even one whose entries were read before.
//   - An entry of unknown outcome is looked up before its outcome is reported as unknown.
//
// Where to change what:
//   - stream.go: how often a decision is repeated after a conflict; keys.go: which idempotency keys are remembered: the newest, by
//     number and not by time; how many is [Options].Remember, which is set where the kind of
//     stream is made: mostly the file of the store among the use cases of its noun
//   - folds.go: how an entry changes a fold; how many folds are cached, of large streams and of those that have ended; bytecache.go, workers.go: memory and goroutines
//   - current.go: how a fresh read does without a read of the stream; how rare looks at the end of the record are while many wait is decided in package pace
//   - learn.go: why no fold in the cache lacks an entry that this process has heard of
//
// Start reading at [Kind.Do].
package stream
