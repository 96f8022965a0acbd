//go:build unix && !linux

package work

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}
