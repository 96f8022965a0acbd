// Package move has the file in which one workspace moves from a record to another: its entries byte by byte, its artifacts, and the proof of what the source
// signed. docs/workspaces.md says how it is used.
//
// The file is a tar archive (POSIX.1-2001) with these members, in this order:
//
//	begin.json        the [Begin]
//	sent.tlog-proof   the entry workspace-sent of the source, with the proof that it is in a signed checkpoint (c2sp.org/tlog-proof)
//	entries/N         entries from position N of the source on, in one gzip stream: for each its position and its length as unsigned varints, and its bytes
//	content/DIGEST    an artifact, whose name is its SHA-256
//
// The entry workspace-sent has the number of the entries, the root of a tree of these alone, and that of the digests of the artifacts. So nothing can be
// changed, added or left out, although one tree has the entries of all workspaces.
//
// Invariants:
//   - A file has entries of the workspace and of its tokens alone, each stream from its first entry on.
//   - What does not verify is an error, before a visitor has seen the end.
//
// Where to change what:
//   - format.go: the members and their limits; select.go: which entries and artifacts are of a workspace
//   - write.go: how a file is written; read.go: what is verified
//
// Start reading at [Write], then [Read].
package move
