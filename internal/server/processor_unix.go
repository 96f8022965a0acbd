//go:build unix

package server

import (
	"syscall"
	"time"
)

// processorTime returns the processor time of the process, of the user and the system; 0 if it cannot be told.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
