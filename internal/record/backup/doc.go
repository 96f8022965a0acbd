// Package backup copies a record into one file while its server runs, and back. A backup is verified as a whole: restoring one computes the Merkle tree of
// its entries again, and compares it with the root that was written down and with the signed checkpoint.
//
// A backup is a tar archive (POSIX.1-2001) with these members, in this order:
//
//	begin.json       the [Begin]: which record, after which position, and the checkpoint
//	entries/N        entries from position N on, in one gzip stream: for each its position and its length as unsigned varints, and its bytes
//	content/PATH     a file whose name is the SHA-256 of its content, such as an artifact
//	settings/PATH    a file that may change, such as a policy file or a key
//	end.json         the [End]: up to which position, the root of the tree, the digests of all other members. A backup without it was cut off
//	end.note         a signed note (c2sp.org/signed-note) of the log with the digest of end.json. Only a backup of a record without its key lacks it
//
// A full backup begins after position 0. An incremental one begins where another ended, and has the entries and the content files that the other lacks;
// settings are always whole. Which of the settings are secrets, and where files are in a data directory, the caller knows.
//
// Invariants:
//   - A backup, together with the earlier ones that it continues, has every entry up to its position, byte for byte, and the files that they refer to.
//   - Nothing is restored that does not verify; the first position that differs is named. With keys that the caller has from elsewhere, that goes
//     for every byte that is restored: settings, too, are signed.
//   - A backup does not lock the record: the server goes on while it is written.
//
// Where to change what:
//   - format.go: the members of a backup, the greatest sizes of begin.json, end.json, end.note and a piece of the entries (files have none), and the number of the format
//   - write.go: what is copied, and how entries are compressed; read.go: the same in reverse, and what is verified and restored; signature.go: what the log signs. Which files of a data directory are in a
//     backup is decided in server/backup.go
//
// Start reading at [Write], then [Restorer].
package backup
