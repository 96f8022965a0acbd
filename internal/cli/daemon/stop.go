package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Ended is a server that was ended.
type Ended struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
}

// ErrNone is why nothing is stopped: no server has the data directory.
var ErrNone = errors.New("no server runs on the data directory")

// Stop asks the server on a data directory to end and waits until it has, at most half a minute. It is asked politely
// and never made to: calls under way may take a while. Without a server it returns [ErrNone].
func Stop(ctx context.Context, dataDir string) (Ended, error) {
	if err := ownersAlone(filepath.Join(dataDir, lockName)); err != nil {
		return Ended{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	held, n := holder(dataDir)
	for held && n.PID == 0 && pause(ctx) {
		held, n = holder(dataDir)
	}
	if !held {
		return Ended{}, ErrNone
	}
	out := Ended(n)
	if n.PID <= 1 || n.PID == os.Getpid() {
		return out, fmt.Errorf("%s names no process of a server", filepath.Join(dataDir, lockName))
	}
	p, err := os.FindProcess(n.PID)
	if err != nil {
		return out, err
	}
	defer func() { _ = p.Release() }()
	if held, now := holder(dataDir); !held || now != n { // it went while the process was looked up, which may be another's now
		return out, goneOr(held)
	}
	if err := end(p); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return out, fmt.Errorf("ask process %d to end: %w", n.PID, err)
	}
	for {
		if held, now := holder(dataDir); !held || now.PID != n.PID {
			return out, nil
		}
		if !pause(ctx) {
			return out, refusal.New(refusal.Unavailable, "calls may still be under way: look again with trapeze stop",
				"the server (process %d) was asked to end and has not within %s", n.PID, patience)
		}
	}
}

func goneOr(held bool) error {
	if held {
		return refusal.New(refusal.Conflict, "try again", "another server took the data directory over just now")
	}
	return nil
}
