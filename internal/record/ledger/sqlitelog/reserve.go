package sqlitelog

import (
	"errors"
	"os"
)

// reserve is a file that keeps space on the disk for what has to be recorded before it is answered, such as a read of content. It gets
// smaller as that is recorded on a full disk, and whole again when there is enough space.
type reserve struct {
	path string
	size int64 // 0: none is kept
	held bool  // all of it
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

// release gives so many bytes back to the file system, or all if there are no more, and reports whether there were any.
func (r *reserve) release(size int64) bool {
	info, err := os.Stat(r.path)
	if err != nil || info.Size() == 0 {
		return false
	}
	r.held = false
	if rest := info.Size() - size; rest > 0 {
		return os.Truncate(r.path, rest) == nil
	}
	return os.Remove(r.path) == nil || os.Truncate(r.path, 0) == nil
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
