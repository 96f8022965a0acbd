//go:build !linux

package reserve

import "os"

// allocate gives a file so many bytes on the disk.
func allocate(f *os.File, size int64) error { return fillZeros(f, size) }
