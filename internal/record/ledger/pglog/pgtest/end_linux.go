package pgtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
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

// Processors is the processor time that the server's processes have taken since it started.
func (s *Server) Processors() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0
	}
	pid := s.process.Process.Pid
	sum := processor(pid, 4) // with those that have ended
	for _, child := range children(pid) {
		sum += Processor(child)
	}
	return sum
}

// Processor is the processor time that a process has taken.
func Processor(pid int) time.Duration { return processor(pid, 2) }

// processor is the sum of the first of the times that Linux has of a process: in user mode, in the kernel, and both of children that have ended.
func processor(pid, times int) (sum time.Duration) {
	const tick = 10 * time.Millisecond
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // none: it has ended
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for _, field := range fields[min(11, len(fields)):min(11+times, len(fields))] {
		n, _ := strconv.Atoi(field)
		sum += time.Duration(n) * tick
	}
	return sum
}
