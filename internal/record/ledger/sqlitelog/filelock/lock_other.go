//go:build !linux && !darwin

package filelock

import (
	"fmt"
	"os"
)

// locks is the lock that excludes other processes from the database.
type locks struct{ *os.File }

// takeLocks replaces the lock file and keeps it open: where open files cannot be removed, as on Windows, this fails while
// another process has it.
func takeLocks(path string) (locks, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return locks{}, fmt.Errorf("%w: stop the other process first, or use another data directory (%w)", ErrInUse, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	return locks{f}, err
}

// IsLocked reports whether there is the file of a lock, which stays after a crash.
func IsLocked(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
