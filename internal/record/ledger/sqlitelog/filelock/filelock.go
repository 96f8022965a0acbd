package filelock

import (
	"errors"
	"io"
	"time"
)

// ErrInUse is the error of a lock that another process, or another holder in this one, has.
var ErrInUse = errors.New("sqlitelog: database is in use")

// Timeout is how long Await waits for a holder that may be exiting. A killed process holds its lock until the system has
// freed its memory and finished its last write, and so does a child that it was starting, until the child's exec.
const Timeout = 3 * time.Second

// Await takes the locks that belong to a file as soon as their holder releases them, within [Timeout]. Close releases them. Errors: ErrInUse, and those of the
// file system.
func Await(path string) (io.Closer, error) {
	for end := time.Now().Add(Timeout); ; time.Sleep(10 * time.Millisecond) { // between two tries
		l, err := takeLocks(path)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, ErrInUse) || !time.Now().Before(end) {
			return nil, err
		}
	}
}
