//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package witness

import "os"

// lock opens a file. On this system another process can have it, too.
func lock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator's directory
}
