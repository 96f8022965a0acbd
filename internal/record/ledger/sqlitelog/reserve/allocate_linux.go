package reserve

import (
	"os"
	"syscall"
)

// allocate gives a file so many bytes on the disk.
func allocate(f *os.File, size int64) error {
	for {
		switch err := syscall.Fallocate(int(f.Fd()), 0, 0, size); err {
		case syscall.EINTR:
		case syscall.EOPNOTSUPP, syscall.ENOSYS:
			return fillZeros(f, size)
		default:
			return err
		}
	}
}
