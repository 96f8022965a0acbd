//go:build unix

package bench

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func TestATerminalThatIsClosedEndsWhatCleansUp(t *testing.T) {
	ctx, stop := attended(t.Context())
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}
