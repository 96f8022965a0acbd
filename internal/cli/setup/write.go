package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/cli/configfile"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// maxFile is the maximum size of a client's file, in bytes. The one of Claude Code has some megabytes after years of use.
const maxFile = 32 << 20

// change is the change of one file.
type change struct {
	path          string // as shown to people
	target        string // after following symbolic links
	root          string // of the project, if the file belongs to one
	what          string
	before, after string
	isNew         bool
	mode          fs.FileMode
}

// none reports whether nothing changes.
func (c change) none() bool { return !c.isNew && c.before == c.after }

// diff shows the change, and the file that is written.
func (c change) diff() string {
	name := c.path
	if c.strays() {
		name += " -> " + c.target
	}
	return configfile.Diff(name, c.before, c.after, c.isNew)
}

// strays reports whether symbolic links of a project lead to another file: a project may come from somebody else.
func (c change) strays() bool {
	rel, err := filepath.Rel(c.root, c.path)
	if c.root == "" || err != nil {
		return false
	}
	root, err := filepath.EvalSymlinks(c.root)
	return err != nil || filepath.Join(root, rel) != c.target
}

// planChange reads a file and computes its change.
func planChange(path, what string, edit func(text string) (string, error)) (c change, err error) {
	c = change{path: path, what: what, mode: 0o644}
	if c.target, c.isNew, err = resolve(path); err == nil && !c.isNew {
		c.before, c.mode, err = readFile(c.target)
	}
	if err != nil {
		return c, refuseFile(path, err)
	}
	if c.after, err = edit(c.before); err != nil {
		return c, refuseFile(path, err)
	}
	return c, nil
}

// resolve follows the symbolic links of a path, whose last elements may not exist.
func resolve(path string) (target string, isNew bool, err error) {
	if target, err = filepath.EvalSymlinks(path); !errors.Is(err, fs.ErrNotExist) {
		return target, false, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", false, errors.New("it is a symbolic link to a file that does not exist")
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, true, nil
	}
	dir, _, err = resolve(dir)
	return filepath.Join(dir, filepath.Base(path)), true, err
}

// refuseFile is the error of a file that cannot be changed. Then no file is written.
func refuseFile(path string, err error) error {
	return shell.Hinted(fmt.Errorf("%s: %w", path, err), "nothing was written: fix the file, or select other clients with --client")
}

// readFile reads a text file of at most maxFile bytes.
func readFile(path string) (text string, mode fs.FileMode, err error) {
	switch info, err := os.Stat(path); { // opening a pipe would block
	case err != nil:
		return "", 0, err
	case !info.Mode().IsRegular():
		return "", 0, errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return "", 0, fmt.Errorf("it is larger than %d bytes", maxFile)
	default:
		mode = info.Mode().Perm()
	}
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && !utf8.Valid(b) {
		err = errors.New("it is not UTF-8 text")
	}
	return string(b), mode, err
}

// write writes a change, whole or not at all, and keeps the previous file in the directory of backups. It refuses a file that has changed
// since it was read: the change that was shown would not be the one that is made.
func (c change) write(backups string, now time.Time) (backup string, err error) {
	if c.isNew {
		if _, err := os.Lstat(c.target); err == nil {
			return "", fmt.Errorf("%s was created meanwhile: run the command again", c.path)
		}
		if err := os.MkdirAll(filepath.Dir(c.target), 0o755); err != nil {
			return "", err
		}
		return "", replace(c.target, c.after, c.mode)
	}
	if text, _, err := readFile(c.target); err != nil || text != c.before {
		return "", errors.Join(fmt.Errorf("%s has changed meanwhile: run the command again", c.path), err)
	}
	if err := os.MkdirAll(backups, 0o700); err != nil {
		return "", err
	}
	name := strings.Trim(strings.Map(plainName, c.target), "_")
	backup = filepath.Join(backups, now.UTC().Format("20060102T150405.000Z")+"-"+name[max(0, len(name)-150):])
	if err := replace(backup, c.before, 0o600); err != nil {
		return "", fmt.Errorf("back up %s: %w", c.path, err)
	}
	return backup, replace(c.target, c.after, c.mode)
}

// plainName maps the characters of a path to those of a file name.
func plainName(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
		return r
	}
	return '_'
}

// replace writes a file atomically, with a temporary file in the same directory.
func replace(path, text string, mode fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".trapeze-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone after the rename
	if _, err := tmp.WriteString(text); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := errors.Join(tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
