// Package entrytar writes and reads the members of a tar archive (POSIX.1-2001) that has entries of a record: backups, segments and workspaces that move.
//
// The entries are in members entries/N, from position N on. Each member is one gzip stream, and has for each entry its position and its length as unsigned varints, and its bytes.
//
// Start reading at [Writer], then [Read].
package entrytar
