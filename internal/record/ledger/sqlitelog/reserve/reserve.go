package reserve

import (
	"errors"
	"os"
)

// File keeps space on the disk. It is not safe for concurrent use.
type File struct {
	Path string
	Size int64 // 0: none is kept
	held bool  // all of it
	// without is the free space with which the last attempt failed; it is made again when there is more.
	without int64
}

// Look finds out whether the file is there, with its space.
func (r *File) Look() {
	info, err := os.Stat(r.Path)
	r.held = err == nil && r.Size > 0 && info.Size() >= r.Size
}

// Keep creates the file if so many free bytes leave the log what it needs. It is only an attempt: without a reserve, reads of content
// are refused once the disk is completely full.
func (r *File) Keep(free, needed int64) {
	if r.Size == 0 || r.held || free < needed+r.Size || r.without > 0 && free <= r.without {
		return
	}
	r.without = free
	f, err := os.OpenFile(r.Path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	err = allocate(f, r.Size)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(r.Path) // a part of it would be of no use
		return
	}
	r.held, r.without = true, 0
}

// Release gives so many bytes back to the file system, or all if there are no more, and reports whether there were any.
func (r *File) Release(size int64) bool {
	info, err := os.Stat(r.Path)
	if err != nil || info.Size() == 0 {
		return false
	}
	r.held = false
	if rest := info.Size() - size; rest > 0 {
		return os.Truncate(r.Path, rest) == nil
	}
	return os.Remove(r.Path) == nil || os.Truncate(r.Path, 0) == nil
}

// fillZeros writes zeros, where a file system cannot allocate space.
func fillZeros(f *os.File, size int64) error {
	zeros := make([]byte, 256<<10)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}
