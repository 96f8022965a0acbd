// Package cosigner asks witnesses (c2sp.org/tlog-witness) to cosign the checkpoints of the record, so that nobody can be shown another history with their
// cosignatures.
//
// Invariants:
//   - An answer to a caller waits for a witness no longer than treefile/cosign.go allows. A witness that is away is asked again later.
//   - What a witness answers counts only if it is verified with its key.
//   - That a witness has cosigned a longer log, or another history, is a [Finding], until it cosigns again.
//
// Where to change what:
//   - witness.go: what a witness is asked, how long, and which answers count; cosigner.go: the pauses
//   - The command that is a witness itself is in package cli/witness.
//
// Start reading at [Cosigner.Run].
package cosigner
