//go:build linux || darwin

package daemon

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// take takes the lock of a file, which ends with the process, however it dies. The file stays, its owner's alone, whoever made
// it.
func take(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errHeld
		}
		return nil, errors.Join(err, f.Close())
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// taken reports whether a process has the lock of a file. Those who look do not stand in each other's way: what one sees
// is never another who only looks.
func taken(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// detach gives the command a session of its own, so that no terminal's signal reaches it, and keeps from it what this
// process was given open: a pipe of whoever started us would not end before the server does.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// end asks a process to end.
func end(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
