//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the first of a process group, and ends all of it where the program is ended.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
