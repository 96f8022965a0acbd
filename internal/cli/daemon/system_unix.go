//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package daemon

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// take locks a file until it is closed or the process ends. The file stays, and only its owner can read it. That it is held includes that it
// was held until now, and then removed.
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
	if !isAt(path, f) { // who held it has removed it
		return nil, errors.Join(errHeld, f.Close())
	}
	return f, nil
}

// isAt reports whether a path names an open file.
func isAt(path string, f *os.File) bool {
	there, err := os.Lstat(path)
	if err != nil {
		return false
	}
	here, err := f.Stat()
	return err == nil && os.SameFile(there, here)
}

// taken reports whether a process has locked a file. It uses a shared lock, so that concurrent checks do not find each other.
func taken(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// Detach starts the command in a new session, so that it gets no signals of the terminal, and without the open files of this process: a
// pipe of our parent would otherwise stay open as long as the server runs.
func Detach(cmd *exec.Cmd) {
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

// end asks a process to stop.
func end(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
