//go:build linux || darwin

package setup

import "syscall"

// modesCount tells whether a file's mode restricts access to it.
const modesCount = true

// freeSpace is the number of bytes that this user can still write to the file system of a directory.
func freeSpace(dir string) (free int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:gosec,unconvert // types differ between systems
}
