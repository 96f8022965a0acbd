// Package segment writes and reads files with the oldest entries of a record, which verify by themselves and can be kept elsewhere.
//
// A segment is a tar archive (POSIX.1-2001) with these members, in this order:
//
//	begin.json   the [Begin]: which entries of which log, the tree before them, its root after them, and a signed checkpoint with the proof that it has that root
//	entries/N    entries from position N on, in one gzip stream: for each its position and its length as unsigned varints, and its bytes
//	end.sha256   the SHA-256 of all bytes before this member, in hexadecimal, and a line feed; nothing follows
//
// Invariants:
//   - A segment has every entry from its first position to its last, byte for byte.
//   - It verifies with the public keys of its log alone.
//   - Its name is FIRST-LAST.segment: a name from elsewhere cannot be a path.
//
// Start reading at [Write], then [Verify]. [Dir] is how a ledger reads entries that were put away.
package segment
