//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package daemon

import (
	"fmt"
	"os"
	"os/exec"
)

// take creates the file again and keeps it open. On systems where open files cannot be removed, such as Windows, this fails while another
// process has it open.
func take(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("%w (%w)", errHeld, err)
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}

// taken reports whether a process has the file open.
func taken(path string) bool {
	err := os.Remove(path)
	return err != nil && !os.IsNotExist(err)
}

// Detach does nothing: programs without console input do not get signals of a terminal.
func Detach(*exec.Cmd) {}

// end kills a process: there is no way to ask it to stop. The record is durable at any time.
func end(p *os.Process) error { return p.Kill() }
