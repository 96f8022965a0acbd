// Package proof makes the record tamper-evident: a Merkle tree over the bytes of every entry, signed checkpoints of it, and proofs that
// other programs can check without the server. docs/proofs.md describes the formats.
//
// The tree is that of RFC 6962, section 2.1. Its leaf n is the entry at position n+1: the hash of the bytes that [ledger.Entry.Encode] gives,
// or [Gap] where a ledger has no entry at a position. A checkpoint is a signed note (c2sp.org/signed-note) with the text of
// c2sp.org/tlog-checkpoint; tiles are those of c2sp.org/tlog-tiles, and inclusion proofs those of c2sp.org/tlog-proof.
//
// Invariants:
//   - Only the contract of the ledger is needed to verify: no server, no network, no technology.
//   - What does not verify is an error that names the first position where it can be told.
//
// The hashes of a running server are stored by treefile.
//
// Where to change what:
//   - tree.go: the leaf of an entry and the hash of a tree; tile.go: how others fetch it
//   - checkpoint.go: what is signed: name, size and root; cosignature.go: what a witness signs, and when a checkpoint has enough cosignatures (which witnesses count is the
//     caller's: cli/verify/witness.go); delivery/cosigner/witness.go asks for one
//   - receipt.go: which events the receipt of a handoff has, what of them is shown, and what a receipt must have to verify
//   - counted.go: when an export is complete, by the entry that records it; recount.go: how the counts that a record has are made again
//   - inclusion.go: the text of a proof; rotation.go: what makes a new key valid
//   - content.go: which envelopes are checked against their digest
//   - segment.go: the note in the record of a segment of entries that were put away; the file itself is package proof/segment
//   - verify.go: what a verification compares, and how many findings it lists
//   - stored.go, pages.go: how fast hashes and entries are read; ahead.go: how others read the entries that follow each other as fast
//
// Start reading at [Tree], then [Checkpoint] and [Inclusion].
package proof
