//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package bench

import (
	"errors"
	"os"
)

// lock is an error: on this system other runs do not know that a process lives.
func lock(*os.File) error { return errors.ErrUnsupported }
