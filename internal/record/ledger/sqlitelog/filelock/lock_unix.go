//go:build linux || darwin

package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// locks are those that exclude other processes, and other logs in this one, from the database: of a file beside it, which has the process id of the
// holder, and of the directory, which holds though somebody removes the file. The system releases them when the process ends; the file remains.
type locks struct{ file, dir *os.File }

func takeLocks(path string) (_ locks, err error) {
	var l locks
	if l.dir, err = os.Open(filepath.Dir(path)); err != nil {
		return l, err
	}
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil { //nolint:gosec // the path is the operator's
		return l, errors.Join(err, l.dir.Close())
	}
	err = errors.Join(lock(l.file, path), lockDir(l.dir, path))
	if err == nil {
		if err = l.file.Truncate(0); err == nil {
			_, err = fmt.Fprintf(l.file, "%d\n", os.Getpid())
		}
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) { // the process id is only for the error message of others
			err = nil
		}
	}
	if err != nil {
		return l, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close releases the locks.
func (l locks) Close() error { return errors.Join(l.file.Close(), l.dir.Close()) }

func lock(f *os.File, path string) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return inUse(path)
	}
	return err
}

// lockDir locks a directory, where the file system can: some over a network lock only files.
func lockDir(f *os.File, path string) error {
	if err := lock(f, path); errors.Is(err, ErrInUse) {
		return err
	}
	return nil
}

func inUse(path string) error {
	holder := "another process"
	if b, err := os.ReadFile(path); err == nil && len(b) > 0 { //nolint:gosec // as above
		holder = "process " + strings.TrimSpace(string(b))
	}
	return fmt.Errorf("%w by %s: stop it first, or use another data directory", ErrInUse, holder)
}

// IsLocked reports whether a process has the lock of a file, or of its directory.
func IsLocked(path string) bool {
	return slices.ContainsFunc([]string{path, filepath.Dir(path)}, func(name string) bool {
		f, err := os.Open(name) //nolint:gosec // the path is the operator's
		if err != nil {
			return false
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		_ = f.Close() // which ends the lock, too
		return errors.Is(err, syscall.EWOULDBLOCK)
	})
}
