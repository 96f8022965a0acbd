package pglog

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// unsentTimeout is how long the other end may leave what was sent without a confirmation of TCP, in milliseconds.
const unsentTimeout = 10_000

// limitUnsent has the system end a connection whose other end no longer confirms what it gets.
func limitUnsent(network, _ string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var err error
	return errors.Join(c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, unsentTimeout) //nolint:gosec // a file descriptor
	}), err)
}
