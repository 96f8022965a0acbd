// Package artifact defines the store of artifacts: files and patches that are too large for the record and are handed over by
// the hash of their content.
//
// Invariants:
//   - An artifact is its content: stored once per workspace, never changed, found by its digest alone. No workspace can read
//     another's, not even by guessing digests.
//   - When Put returns, the content is durable, or it is absent.
//   - Content is checked against the digest while it is read: reading a damaged artifact ends with [ErrCorrupt], never with
//     io.EOF.
//   - The store counts no references. Sealed envelopes refer to artifacts; [Store.Sweep] asks its caller whether each is still referred to, and keeps
//     those put or touched recently, so that there is time to seal the envelope.
//
// Where to change what:
//   - artifact.go: the default greatest size; quota.go: the default quota; pieces.go: content that is stored in pieces. For how long a file is kept is in
//     usecase/artifacts/artifacts.go
//   - event.go: what is recorded of a file
//
// Every implementation passes the suite in artifacttest. Start reading at [Store].
package artifact
