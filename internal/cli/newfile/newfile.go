package newfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/record/durable"
)

// Set are files that appear whole, or not at all, and never in the place of another.
type Set []file

type file struct {
	*os.File
	name string // that it gets
}

// Create begins a file, for its owner only.
func (l *Set) Create(name string) (io.Writer, error) {
	if _, err := os.Lstat(name); err == nil {
		return nil, shell.Usagef("%s exists already: name a new file", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".partial-*")
	if err != nil {
		return nil, shell.Usage(err)
	}
	*l = append(*l, file{f, name})
	return f, nil
}

// End gives the files their names, once all are on the disk, or removes them if there was an error. Calling it again does nothing.
func (l *Set) End(failed error) (err error) {
	list := *l
	*l = nil
	for _, f := range list {
		if failed == nil {
			err = errors.Join(err, f.Sync())
		}
		err = errors.Join(err, f.Close())
	}
	for _, f := range list {
		if failed != nil || err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
			continue
		}
		if err = give(f.Name(), f.name); err == nil {
			err = durable.Sync(filepath.Dir(f.name))
		}
	}
	return err
}

// Write writes one file that appears whole, or not at all.
func Write(name string, write func(w io.Writer) error) (err error) {
	var files Set
	w, err := files.Create(name)
	if err != nil {
		return err
	}
	err = write(w)
	return errors.Join(err, files.End(err))
}

// give gives a file another name, which no file may have by now.
func give(from, name string) error {
	err := os.Link(from, name)
	if err == nil || errors.Is(err, os.ErrExist) {
		return errors.Join(err, os.Remove(from))
	}
	if _, err := os.Lstat(name); err == nil { // some file systems have no links
		return errors.Join(shell.Usagef("%s exists already: name a new file", name), os.Remove(from))
	}
	return os.Rename(from, name)
}
