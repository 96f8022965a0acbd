package pgtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// endWithTest has the system end a program with the test that starts it, even if that is killed.
func endWithTest(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGQUIT
}

// children are the processes that a process has started.
func children(of int) (list []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path) //nolint:gosec // of the system
		_, after, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(of) { // its state, its parent
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				list = append(list, pid)
			}
		}
	}
	return list
}
