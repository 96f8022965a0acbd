//go:build unix

package scenario

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processor returns the processor time of this process. On a shared machine it says more than the
// time that has passed.
func processor(t testing.TB) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
