package bench

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// life is what this machine knows of the process of a run.
type life int

const (
	elsewhere life = iota // it may be on another machine, or was before this one started
	living                // also while it stands still, after Ctrl-Z
	over
)

// marks is the directory of the marks of runs; a mark is a file that the process of a run has locked as long as it exists.
func (o *Options) marks() string {
	if o.markDir != "" {
		return o.markDir
	}
	return os.TempDir()
}

func (o *Options) mark(workspace string) string {
	return filepath.Join(o.marks(), "trapeze-"+workspace)
}

// makeMark locks a new file; without one, other runs do not know that the process lives.
func makeMark(path string) *os.File {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) //nolint:gosec // of a name that nobody else can guess
	if err != nil {
		return nil
	}
	if lock(f) != nil {
		_ = errors.Join(f.Close(), os.Remove(path))
		return nil
	}
	return f
}

// lifeOf is what a mark says.
func lifeOf(path string) life {
	f, err := os.Open(path) //nolint:gosec // see makeMark
	if errors.Is(err, fs.ErrNotExist) {
		return elsewhere
	}
	if err != nil { // another user's
		return living
	}
	defer func() { _ = f.Close() }()
	if lock(f) != nil {
		return living
	}
	return over
}
