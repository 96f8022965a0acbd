// Package frame is the form in which an engine of the ledger stores an entry: compressed where that is worth it, with a checksum of its bytes and of its place,
// so that an entry that was changed or moved is noticed when it is read.
//
// Invariants:
//   - Open gives back the exact bytes of the entry, which proofs hash.
//   - A framing, and the dictionary that it refers to, never change; a better one is a new framing. Earlier ones stay readable.
//
// Start reading at [Append]; block.go is the compression, the block format of LZ4 with a dictionary.
package frame
