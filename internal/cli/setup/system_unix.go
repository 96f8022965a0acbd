//go:build linux || darwin

package setup

import "syscall"

// modesCount says that a file's mode says who may read it.
const modesCount = true

// freeSpace is how many bytes this user may still write where a directory is.
func freeSpace(dir string) (free int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:gosec,unconvert // types differ between systems
}
