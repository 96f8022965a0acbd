//go:build unix

package certificate

import (
	"io/fs"
	"syscall"
)

// private reports whether only its owner can read a file, or only root and a group, as where a secret is mounted into a container.
func private(info fs.FileInfo) bool {
	others := fs.FileMode(0o077)
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid == 0 {
		others = 0o037
	}
	return info.Mode().Perm()&others == 0
}
