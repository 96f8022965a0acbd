package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// Serving is the address at which a data directory is served on this machine, and by which process; not found where
// nobody serves it.
func Serving(dataDir string) (at string, pid int, found bool) {
	held, n := holder(dataDir)
	return n.URL, n.PID, held
}
