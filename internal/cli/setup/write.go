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

// maxFile is how large a file of a client may be, in bytes. Claude Code's own has some megabytes after years of use.
const maxFile = 32 << 20

// change is what becomes of a file.
type change struct {
	path          string // as it is named to people
	target        string // where it really is: what a link points to
	root          string // of the project that it belongs to, if it does
	what          string
	before, after string
	isNew         bool
	mode          fs.FileMode
}

// stays reports whether there is nothing to do.
func (c change) stays() bool { return !c.isNew && c.before == c.after }

// diff shows the change, and where it is made.
func (c change) diff() string {
	name := c.path
	if c.strays() {
		name += " -> " + c.target
	}
	return configfile.Diff(name, c.before, c.after, c.isNew)
}

// strays reports whether links within a project lead elsewhere: what is in a project may be somebody else's.
func (c change) strays() bool {
	rel, err := filepath.Rel(c.root, c.path)
	if c.root == "" || err != nil {
		return false
	}
	root, err := filepath.EvalSymlinks(c.root)
	return err != nil || filepath.Join(root, rel) != c.target
}

// changing reads a file and decides what becomes of it.
func changing(path, what string, edit func(text string) (string, error)) (c change, err error) {
	c = change{path: path, what: what, mode: 0o644}
	if c.target, c.isNew, err = really(path); err == nil && !c.isNew {
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

// really is where a file is, or would be: where links lead, as far as there is anything.
func really(path string) (target string, isNew bool, err error) {
	if target, err = filepath.EvalSymlinks(path); !errors.Is(err, fs.ErrNotExist) {
		return target, false, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", false, errors.New("it is a link to what is not there")
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, true, nil
	}
	dir, _, err = really(dir)
	return filepath.Join(dir, filepath.Base(path)), true, err
}

// refuseFile says which file stands in the way. Nothing is written then, not even the others.
func refuseFile(path string, err error) error {
	return shell.Hinted(fmt.Errorf("%s: %w", path, err), "nothing was written: mend the file, or leave its client out with --client")
}

// readFile reads a text file of bounded size.
func readFile(path string) (text string, mode fs.FileMode, err error) {
	switch info, err := os.Stat(path); { // a pipe would not open before somebody writes to it
	case err != nil:
		return "", 0, err
	case !info.Mode().IsRegular():
		return "", 0, errors.New("it is no file")
	case info.Size() > maxFile:
		return "", 0, fmt.Errorf("it has more than %d bytes", maxFile)
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
		err = errors.New("it is not text in UTF-8")
	}
	return string(b), mode, err
}

// write puts a change in place, whole or not at all, and keeps what was there in the directory of backups. It refuses a
// file that has changed since it was read: what was shown would not be what is written.
func (c change) write(backups string, now time.Time) (backup string, err error) {
	if c.isNew {
		if _, err := os.Lstat(c.target); err == nil {
			return "", fmt.Errorf("%s is there by now: run the command again", c.path)
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
		return "", fmt.Errorf("keep what was in %s: %w", c.path, err)
	}
	return backup, replace(c.target, c.after, c.mode)
}

// plainName makes of a path the name of one file.
func plainName(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
		return r
	}
	return '_'
}

// replace writes a file by way of another one beside it.
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
