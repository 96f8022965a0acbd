//go:build linux || darwin

package sqlitelog

import (
	"errors"
	"syscall"
)

// freeSpace returns the bytes that this user may still write to the file system of dir.
func freeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:gosec,unconvert // types differ between systems
}

func isFull(err error) bool {
	return code(err) == codeFull || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
