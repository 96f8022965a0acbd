// Package envelopestore reads sealed envelopes from the streams of tasks, and which facts and decisions they had.
//
// Invariant: what was sealed comes back byte for byte.
//
// Start reading at [Store.Bytes].
package envelopestore
