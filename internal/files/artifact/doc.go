// Package artifact is the contract of the store of artifacts: files and patches that are too large for the record and
// are handed over by the hash of their content.
//
// Invariants:
//   - An artifact is its content: stored once per workspace, never changed, found by its digest alone. No workspace
//     sees another's, not even by guessing digests.
//   - What was put is durable when Put returns, or it is not there at all.
//   - What is read is checked against the digest while it is read: a damaged artifact ends in [ErrCorrupt], never in a
//     silent end.
//   - The store counts no references. What refers to an artifact are the sealed envelopes; [Store.Sweep] asks about each
//     artifact, and spares what was put or touched a short while ago, so that there is time to seal the envelope.
//
// Every technology passes the suite in artifacttest. Start reading at [Store].
package artifact
