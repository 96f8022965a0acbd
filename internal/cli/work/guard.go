package work

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/cli/daemon"
)

// A worker that is killed cannot end what its programs have started, nor remove the files that they read. Its guard does: a process of its
// own, which waits until the pipe from the worker ends.

// startGuard starts the guard of a worker: a command, with the directory of the worker as its last argument. Without one, or if it cannot
// be started, the next worker clears up. stop ends it.
func (s *scratch) startGuard(command []string) (stop func()) {
	stop = func() {}
	if len(command) == 0 {
		return stop
	}
	r, w, err := os.Pipe()
	if err != nil {
		return stop
	}
	cmd := exec.Command(command[0], append(command[1:len(command):len(command)], s.dir)...) //nolint:gosec,noctx // this program, which outlives this process
	cmd.Stdin = r
	for _, v := range os.Environ() { // of a worker whose program this worker may be
		if !strings.HasPrefix(v, envelopeVar) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	daemon.Detach(cmd)
	err = cmd.Start()
	if err = errors.Join(err, r.Close()); err != nil {
		_ = w.Close()
		return stop
	}
	return func() {
		_ = w.Close()
		_ = cmd.Wait() // it has nothing to clear up
	}
}

// Bounds of a guard: the lock of a killed worker is released a little after its pipe.
const (
	guardTries = 100
	guardPause = 50 * time.Millisecond
)

// Guard waits until alive ends, and clears up after the worker with the directory dir, if it was killed.
func Guard(dir string, alive io.Reader) {
	if !strings.HasPrefix(filepath.Base(dir), scratchPrefix) {
		return
	}
	_, _ = io.Copy(io.Discard, alive)
	for range guardTries {
		_, err := os.Lstat(dir)
		if _, locked := os.Lstat(dir + lockSuffix); errors.Is(err, fs.ErrNotExist) && errors.Is(locked, fs.ErrNotExist) {
			return
		}
		clearUp(dir)
		time.Sleep(guardPause) // between two tries
	}
}
