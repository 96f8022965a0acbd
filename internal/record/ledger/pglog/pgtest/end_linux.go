package pgtest

import (
	"os/exec"
	"syscall"
)

// endWithTest has the system end a program with the test that starts it, even if that is killed.
func endWithTest(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGQUIT
}
