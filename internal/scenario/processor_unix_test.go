//go:build unix

package scenario

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processor is how long this process has kept processors busy. On a machine that others use too, it says more than the
// time that has passed.
func processor(t testing.TB) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
