package filestore

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// count finds out what each workspace keeps.
func (s *Store) count() error {
	return fs.WalkDir(s.root.FS(), data, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		k, ok := keyOf(name)
		if !ok {
			return nil
		}
		st, err := d.Info()
		if err == nil {
			used := s.used[k.Workspace]
			s.used[k.Workspace] = artifact.Quota{Bytes: used.Bytes + st.Size(), Count: used.Count + 1}
		}
		return err
	})
}

// would is what a workspace keeps once a finished file is in its place, or the refusal of that.
func (s *Store) would(tmp, at, workspace string) (artifact.Quota, error) {
	st, err := s.root.Stat(tmp)
	if err != nil {
		return artifact.Quota{}, fmt.Errorf("artifacts: %w", err)
	}
	used := s.used[workspace]
	old, err := s.root.Lstat(at)
	switch {
	case err == nil: // the same content, or a damaged file that is mended: no quota forbids that
		used.Bytes += st.Size() - old.Size()
		return used, nil
	case !errors.Is(err, fs.ErrNotExist):
		return artifact.Quota{}, fmt.Errorf("artifacts: %w", err)
	}
	used.Bytes, used.Count = used.Bytes+st.Size(), used.Count+1
	return used, s.quota.Check(used)
}

// lookEvery is how many bytes are written between two looks at the disk's free space.
const lookEvery = 1 << 20

// roomy is a writer that keeps nothing and fails when there is no room left.
type roomy struct {
	s    *Store
	next int // bytes until the next look
}

func (r *roomy) Write(b []byte) (int, error) {
	if r.next -= len(b); r.next > 0 {
		return len(b), nil
	}
	r.next = lookEvery
	return len(b), r.s.room()
}

// room refuses when the disk has too little left.
func (s *Store) room() error {
	if s.minFree < 0 {
		return nil
	}
	if free, err := freeSpace(s.dir); err == nil && free < s.minFree {
		return artifact.Full(fmt.Sprintf("%d KiB free, %d needed", free>>10, s.minFree>>10))
	}
	return nil
}
