//go:build unix && !linux

package work

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const programSuffix = ".program"

// endLeft kills the process groups of the programs that [noteProgram] has recorded in dir, if their leaders still run: a process with the
// same number that began at another time is not a program of the worker. It returns how many they were.
func endLeft(dir string) (n int) {
	list, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*"+programSuffix))
	if err != nil {
		return 0
	}
	for _, name := range list {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), programSuffix))
		began, rerr := os.ReadFile(name)
		if err != nil || rerr != nil || pid < 2 || len(began) == 0 || beginning(pid) != string(began) {
			continue
		}
		if syscall.Kill(-pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// noteProgram records the program with a process ID, and when it began, until done is called.
func noteProgram(dir string, pid int) (done func()) {
	name := filepath.Join(dir, strconv.Itoa(pid)+programSuffix)
	_ = os.WriteFile(name, []byte(beginning(pid)), 0o600) // without it, a program that is left behind is not found
	return func() { _ = os.Remove(name) }
}

// beginning is when a process began, as ps prints it; empty if there is none.
func beginning(pid int) string {
	cmd := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)) //nolint:gosec // a number
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
