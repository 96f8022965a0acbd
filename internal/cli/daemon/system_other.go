//go:build !linux && !darwin

package daemon

import (
	"fmt"
	"os"
	"os/exec"
)

// take creates the file anew and holds it open: where open files cannot be removed, as on Windows, this fails while
// another process lives.
func take(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("%w (%w)", errHeld, err)
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}

// taken reports whether a process holds the file open.
func taken(path string) bool {
	err := os.Remove(path)
	return err != nil && !os.IsNotExist(err)
}

// detach has nothing to do here: no terminal's signal is passed on to a program without a console's input.
func detach(*exec.Cmd) {}

// end ends a process at once: there is no way to ask. The record stands that at any time.
func end(p *os.Process) error { return p.Kill() }
