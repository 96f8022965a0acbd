// Package envelopestore reads sealed envelopes from the streams of tasks, and which facts and decisions they had.
//
// Invariant: what was sealed comes back byte for byte.
//
// Where to change what:
//   - envelopestore.go: how an envelope is found, and that one was erased (the text is written by record/seal/sealer.go)
//   - chain.go: which envelopes are the steps of a task's chain
//   - points.go: which facts and decisions an id stands for; pointcache.go: how many of them are remembered
//
// Start reading at [Store.Bytes].
package envelopestore
