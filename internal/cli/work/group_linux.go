package work

import "syscall"

// dieWithParent lets the program die with its worker, whatever kills that: an orphan would go on working on a task
// that is about to be recovered.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
