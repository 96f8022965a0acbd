//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package witness

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock opens a file that one process can have at a time.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator's directory
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another witness has the directory open (%s): %w", path, err), f.Close())
	}
	return f, nil
}
