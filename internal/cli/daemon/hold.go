package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// lockName is the file that a server's process holds for as long as it serves; who it is stands in it.
const lockName = "serve.lock"

// errHeld is why a lock cannot be taken: another process has it.
var errHeld = errors.New("held by another process")

// note is what a server says of itself in its lock file.
type note struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
}

// Hold says that this process serves a data directory at a URL, until release is called or the process ends, however it
// does. While it holds, [Stop] finds it.
func Hold(ctx context.Context, dataDir, at string) (release func(), err error) {
	path := filepath.Join(dataDir, lockName)
	ctx, cancel := context.WithTimeout(ctx, overlap)
	defer cancel()
	var f *os.File
	for {
		if f, err = take(path); !errors.Is(err, errHeld) || !pause(ctx) { // somebody who only looks has it for an instant
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b, err := json.Marshal(note{PID: os.Getpid(), URL: at})
	if err == nil {
		err = errors.Join(f.Truncate(0), writeAt(f, append(b, '\n')))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		_ = f.Truncate(0) // the lock says it, too
		_ = f.Close()
	}, nil
}

func writeAt(f *os.File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}

// holder looks who serves a data directory. The note is empty where nobody does, or whoever does is only just there.
func holder(dataDir string) (held bool, n note) {
	path := filepath.Join(dataDir, lockName)
	if !taken(path) {
		return false, note{}
	}
	r, err := os.Open(path)
	if err != nil {
		return true, note{}
	}
	defer func() { _ = r.Close() }()
	if b, err := io.ReadAll(io.LimitReader(r, 4096)); err == nil {
		_ = json.Unmarshal(b, &n) // half written: it is asked again
	}
	return true, n
}

// pidOf is the process that serves a data directory at an address; 0 where nobody does.
func pidOf(dataDir, at string) int {
	if held, n := holder(dataDir); held && sameAddress(n.URL, at) {
		return n.PID
	}
	return 0
}

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

// Serving is the address at which a data directory is served on this machine, and by which process; not found where
// nobody serves it.
func Serving(dataDir string) (at string, pid int, found bool) {
	held, n := holder(dataDir)
	return n.URL, n.PID, held
}
