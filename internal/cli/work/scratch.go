package work

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/cli/daemon"
)

// scratch is the directory of one worker with the envelopes that its programs read. It is locked as long as the worker lives: what a
// worker that was killed has left, the next one finds, ends and removes.
type scratch struct {
	dir  string
	lock io.Closer
}

const (
	scratchPrefix = "trapeze-work-"
	scratchLock   = "lock"
	envelopeVar   = "TRAPEZE_ENVELOPE="
)

// openScratch makes the directory of a worker, and clears up after workers that were killed: their programs are ended, and their files
// removed. It returns how many programs that were.
func openScratch() (s *scratch, ended int, err error) {
	dir, err := os.MkdirTemp("", "trapeze-new-*") // with mode 0700; its name is final when it is locked
	if err != nil {
		return nil, 0, err
	}
	lock, _, err := daemon.Lock(filepath.Join(dir, scratchLock))
	if err != nil {
		return nil, 0, errors.Join(err, os.RemoveAll(dir))
	}
	final := filepath.Join(filepath.Dir(dir), scratchPrefix+strings.TrimPrefix(filepath.Base(dir), "trapeze-new-"))
	if err := os.Rename(dir, final); err != nil {
		return nil, 0, errors.Join(err, lock.Close(), os.RemoveAll(dir))
	}
	s = &scratch{final, lock}
	left, err := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(final)), scratchPrefix+"*"))
	if err != nil {
		return nil, 0, errors.Join(err, s.close())
	}
	for _, dir := range left {
		if dir != final {
			ended += clearUp(dir)
		}
	}
	return s, ended, nil
}

// clearUp ends the programs and removes the files of a worker that was killed. It leaves those of others, and of workers that live.
func clearUp(dir string) (ended int) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !mine(info) {
		return 0
	}
	lock, _, err := daemon.Lock(filepath.Join(dir, scratchLock))
	if err != nil {
		return 0
	}
	defer func() { _ = lock.Close() }()
	ended = endLeft(dir)
	_ = os.RemoveAll(dir) // what stays is removed by the next worker
	return ended
}

// escapeGlob is a directory as a pattern that matches it alone.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(dir)
}

// file writes a file that only its owner can read.
func (s *scratch) file(content []byte) (string, error) {
	f, err := os.CreateTemp(s.dir, "envelope-*.json") // with mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name()) // incomplete
	}
	return f.Name(), err
}

// note records a program that runs, for systems on which it cannot be found by its environment.
func (s *scratch) note(pid int, env []string) (done func()) {
	if s == nil || !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, envelopeVar) }) {
		return func() {}
	}
	return noteProgram(s.dir, pid)
}

func (s *scratch) close() error {
	err := os.RemoveAll(s.dir)
	return errors.Join(err, s.lock.Close())
}
