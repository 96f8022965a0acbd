package work

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/cli/daemon"
)

// scratch is the directory of one worker with the envelopes that its programs read. A file beside it is locked as long as the worker
// lives: what a worker that was killed has left, the next one finds, ends and removes. The file is beside it, since some systems do not
// rename or remove a directory with an open file.
type scratch struct {
	dir  string
	lock io.Closer
}

const (
	scratchPrefix = "trapeze-work-"
	lockSuffix    = ".lock"
	envelopeVar   = "TRAPEZE_ENVELOPE="
	scratchTries  = 100
)

// openScratch makes the directory of a worker, and clears up after workers that were killed: their programs are ended, and their files
// removed. It returns how many programs that were.
func openScratch() (s *scratch, ended int, err error) {
	if s, err = makeScratch(); err != nil {
		return nil, 0, err
	}
	left, err := filepath.Glob(filepath.Join(escapeGlob(os.TempDir()), scratchPrefix+"*"))
	if err != nil {
		return nil, 0, errors.Join(err, s.close())
	}
	for _, name := range left {
		if name = strings.TrimSuffix(name, lockSuffix); name != s.dir {
			ended += clearUp(name)
		}
	}
	return s, ended, nil
}

// makeScratch makes a directory. Its lock is first, since a directory that nobody has locked is removed. Before it is locked, another worker that
// starts may take it for that of a worker that was killed: then the next name is tried.
func makeScratch() (*scratch, error) {
	for range scratchTries {
		dir := filepath.Join(os.TempDir(), scratchPrefix+rand.Text())
		lock, held, err := daemon.Lock(dir + lockSuffix)
		if held {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := &scratch{dir, lock}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(err, s.close())
		}
		return s, nil
	}
	return nil, errors.New("other workers have taken every new one: start it again")
}

// clearUp ends the programs and removes the files of a worker that was killed. It leaves those of others, and of workers that live.
func clearUp(dir string) (ended int) {
	for _, name := range []string{dir, dir + lockSuffix} {
		info, err := os.Lstat(name)
		if err == nil && (info.IsDir() == (name != dir) || info.Mode()&fs.ModeSymlink != 0 || !mine(info)) || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0
		}
	}
	lock, _, err := daemon.Lock(dir + lockSuffix)
	if err != nil {
		return 0
	}
	ended = endLeft(dir)
	_ = (&scratch{dir, lock}).close() // what stays is removed by the next worker
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
	return errors.Join(os.RemoveAll(s.dir), s.lock.Close(), os.Remove(s.dir+lockSuffix))
}
