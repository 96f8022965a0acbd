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

// lockName is the file that the process of a server locks while it serves; it has the process ID and the URL.
const lockName = "serve.lock"

// errHeld is the error of a lock that another process holds.
var errHeld = errors.New("held by another process")

// note is the content of the lock file.
type note struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
	// Cert is the file of its certificate; empty: it has none.
	Cert string `json:"cert,omitempty"`
}

// Hold locks a data directory for this process, which serves it at a URL, until release is called or the process ends. Meanwhile [Stop]
// finds the process. cert is the file of its certificate, if it has one.
func Hold(ctx context.Context, dataDir, at, cert string) (release func(), err error) {
	path := filepath.Join(dataDir, lockName)
	ctx, cancel := context.WithTimeout(ctx, raceTimeout)
	defer cancel()
	var f *os.File
	for {
		if f, err = take(path); !errors.Is(err, errHeld) || !pause(ctx) { // a process that only checks holds it for an instant
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b, err := json.Marshal(note{PID: os.Getpid(), URL: at, Cert: cert})
	if err == nil {
		err = errors.Join(f.Truncate(0), writeAt(f, append(b, '\n')))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		_ = f.Truncate(0) // the lock is released in any case
		_ = f.Close()
	}, nil
}

func writeAt(f *os.File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}

// holder reports whether a process serves a data directory, and which. The note is empty if that process has not written it yet.
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
		_ = json.Unmarshal(b, &n) // half written: the caller tries again
	}
	return true, n
}

// pidOf is the process that serves a data directory at an address; 0 if none does.
func pidOf(dataDir, at string) int {
	if held, n := holder(dataDir); held && sameAddress(n.URL, at) {
		return n.PID
	}
	return 0
}

// Serving returns the address and process of the server of a data directory on this machine; found is false if there is none.
func Serving(dataDir string) (at string, pid int, found bool) {
	held, n := holder(dataDir)
	return n.URL, n.PID, held
}

// Certificate returns the file of the certificate of the server of a data directory on this machine; empty if there is none.
func Certificate(dataDir string) string {
	_, n := holder(dataDir)
	return n.Cert
}

// Lock locks a file for this process, until the file is closed or the process ends. held is true if another process has locked it.
func Lock(path string) (f io.Closer, held bool, err error) {
	file, err := take(path)
	if err != nil {
		return nil, errors.Is(err, errHeld), err
	}
	return file, false, nil
}

// WaitsForNodes says what a server on a data directory may wait for that does not answer: it is a node of a cluster. Empty: it waits for nothing.
func WaitsForNodes(dataDir string) string {
	if _, err := os.Stat(filepath.Join(dataDir, "jetstream")); err != nil {
		return ""
	}
	return "a node of a cluster answers only when it reaches a majority of the nodes: if it runs, its log says which it hears; start the others. " +
		"If it is dead and others run, name the data directory of one of them with --data-dir, or set TRAPEZE_TOKEN to what is in admin.token there or here: it counts at every node"
}
