//go:build unix

package server

import "io/fs"

// ownerOnly reports whether only its owner can read a file.
func ownerOnly(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }
