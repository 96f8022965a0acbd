package sqlitelog

import (
	"errors"
	"io/fs"
	"os"
)

// reserve is a file that keeps space on the disk for what has to be recorded before it is answered, such as a read of content. It is
// removed when the disk is full, and created again when there is enough space.
type reserve struct {
	path string
	size int64 // 0: none is kept
	held bool
	// without is the free space with which the last attempt failed; it is made again when there is more.
	without int64
}

// look finds out whether the file is there, with its space.
func (r *reserve) look() {
	info, err := os.Stat(r.path)
	r.held = err == nil && r.size > 0 && info.Size() >= r.size
}

// keep creates the file if so many free bytes leave the log what it needs. It is only an attempt: without a reserve, reads of content
// are refused once the disk is completely full.
func (r *reserve) keep(free, needed int64) {
	if r.size == 0 || r.held || free < needed+r.size || r.without > 0 && free <= r.without {
		return
	}
	r.without = free
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	err = allocate(f, r.size)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(r.path) // a part of it would be of no use
		return
	}
	r.held, r.without = true, 0
}

// release gives the space back to the file system, and reports whether there was any.
func (r *reserve) release() bool {
	if r.path == "" {
		return false
	}
	r.held = false
	err := os.Remove(r.path)
	return err == nil || !errors.Is(err, fs.ErrNotExist) && os.Truncate(r.path, 0) == nil
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
