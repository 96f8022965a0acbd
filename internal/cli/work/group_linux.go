package work

import "syscall"

// dieWithParent kills the program when its worker dies: otherwise it would continue to work on a task that is about to be recovered.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
