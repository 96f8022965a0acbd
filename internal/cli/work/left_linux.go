package work

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// endLeft kills the processes whose environment names an envelope in dir: the programs of a worker, and what they have started. It
// returns how many they were. A process can start another while it looks: it looks again until there are none.
func endLeft(dir string) (n int) {
	for range mostLooks {
		found := endFound(dir)
		if n += found; found == 0 {
			break
		}
	}
	return n
}

// mostLooks bounds how often it looks for processes that start others faster than they can be killed.
const mostLooks = 100

func endFound(dir string) (n int) {
	list, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return 0
	}
	for _, name := range list {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(name)
		if err != nil { // of another user, or gone
			continue
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if strings.HasPrefix(string(v), envelopeVar+dir+"/") && syscall.Kill(pid, syscall.SIGKILL) == nil {
				n++
				break
			}
		}
	}
	return n
}

// noteProgram does nothing: programs are found by their environment.
func noteProgram(string, int) (done func()) { return func() {} }
