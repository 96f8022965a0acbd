//go:build linux || darwin

package sqlitelog

import (
	"errors"
	"syscall"
)

func isFull(err error) bool {
	return code(err) == codeFull || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
