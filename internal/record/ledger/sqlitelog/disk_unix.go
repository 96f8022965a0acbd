//go:build linux || darwin

package sqlitelog

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// lockFile takes the lock that excludes other processes, and other logs in this one, from the database. The system releases
// it when the process ends; the file remains.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = inUse(path)
		}
		return nil, errors.Join(err, f.Close())
	}
	if err = f.Truncate(0); err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil && !isFull(err) { // the process id is only for the error message of others
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func inUse(path string) error {
	holder := "another process"
	if b, err := os.ReadFile(path); err == nil && len(b) > 0 { //nolint:gosec // as above
		holder = "process " + strings.TrimSpace(string(b))
	}
	return fmt.Errorf("%w by %s: stop it first, or use another data directory", ErrInUse, holder)
}

// isLocked reports whether a process has the lock of a file.
func isLocked(path string) bool {
	f, err := os.Open(path) //nolint:gosec // the path is the operator's
	if err != nil {
		return false
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	_ = f.Close() // which ends the lock, too
	return errors.Is(err, syscall.EWOULDBLOCK)
}

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
