//go:build unix

package bench

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

func TestATerminalThatIsClosedEndsWhatCleansUp(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("under nohup a program goes on, and should")
	}
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
