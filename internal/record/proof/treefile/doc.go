// Package treefile keeps the tree of a ledger in files beside it, and signs checkpoints of the tree. It follows the ledger as a view does: no
// append waits for it, and what it lacks after a crash it takes from the record.
//
// Files, for their owner only:
//
//	tree        the hashes of the tree, 32 bytes each, in the order of tlog.StoredHashIndex: 64 bytes for an entry
//	checkpoint  the last signed checkpoint: up to there the hashes are on the disk
//	cosigned    the last checkpoint that witnesses cosigned
//	witnesses   the public keys of the witnesses that are or were asked, one in each line
//	key         the private key that signs
//	keys        the public keys, one in each line, the oldest first; they stay when the key changes
//	key.next    while the key changes: the one that follows
//
// The size of the tree says how many entries were acknowledged, except for the last few milliseconds. So a ledger that ends before its tree
// has lost entries ([Store.Acknowledged]).
//
// Invariants:
//   - Hashes are appended and never overwritten. If the tree and the record differ, that is a [Finding], nothing is written or signed any more,
//     and [Store.Err] says so until a restart.
//   - No checkpoint is signed that is inconsistent with one before it.
//
// Where to change what:
//   - store.go: the default of how long entries wait for a checkpoint, and the names of the files (of the keys: key.go), which a backup takes by server/backup.go;
//     run.go: when one is signed, and that none is while nothing was added; cosign.go: how long a checkpoint waits for witnesses
//   - compare.go, finding.go: what is compared with the record, and what stops signing
//   - key.go: what happens without a key
//
// Start reading at [Open], then [Store.Run].
package treefile
