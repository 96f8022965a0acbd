package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// stopTimeout is how long a server has to stop.
const stopTimeout = 30 * time.Second

// Ended is a server that was stopped.
type Ended struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
}

// ErrNone is the error of [Stop] if no server uses the data directory.
var ErrNone = errors.New("no server is running on the data directory")

// Stop asks the server of a data directory to stop, and waits for it, at most 30 s. It never kills the process: calls in progress may take a
// while. Without a server it returns [ErrNone].
func Stop(ctx context.Context, dataDir string) (Ended, error) {
	if err := checkWritable(filepath.Join(dataDir, lockName)); err != nil {
		return Ended{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	held, n := holder(dataDir)
	for held && n.PID == 0 && pause(ctx) {
		held, n = holder(dataDir)
	}
	if !held {
		return Ended{}, ErrNone
	}
	out := Ended{n.PID, n.URL}
	if n.PID <= 1 || n.PID == os.Getpid() {
		return out, fmt.Errorf("%s does not name the process of a server", filepath.Join(dataDir, lockName))
	}
	p, err := os.FindProcess(n.PID)
	if err != nil {
		return out, err
	}
	defer func() { _ = p.Release() }()
	if held, now := holder(dataDir); !held || now != n { // the server exited meanwhile, and its process ID may be in use again
		return out, goneOr(held)
	}
	if err := end(p); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return out, fmt.Errorf("stop process %d: %w", n.PID, err)
	}
	for {
		if held, now := holder(dataDir); !held || now.PID != n.PID {
			return out, nil
		}
		if !pause(ctx) {
			return out, refusal.New(refusal.Unavailable, "calls may still be in progress: repeat trapeze stop",
				"the server (process %d) did not stop within %s", n.PID, stopTimeout)
		}
	}
}

func goneOr(held bool) error {
	if held {
		return refusal.New(refusal.Unavailable, "try again", "another server has just started on the data directory")
	}
	return nil
}
