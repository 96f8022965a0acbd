package filestore

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// count computes the usage of each workspace.
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

// usageWith returns the usage of a workspace with a finished file, or the refusal if that exceeds the quota.
func (s *Store) usageWith(tmp, at, workspace string) (artifact.Quota, error) {
	st, err := s.root.Stat(tmp)
	if err != nil {
		return artifact.Quota{}, fmt.Errorf("artifacts: %w", err)
	}
	used := s.used[workspace]
	old, err := s.root.Lstat(at)
	switch {
	case err == nil: // the same content, or the repair of a damaged file: allowed whatever the quota
		used.Bytes += st.Size() - old.Size()
		return used, nil
	case !errors.Is(err, fs.ErrNotExist):
		return artifact.Quota{}, fmt.Errorf("artifacts: %w", err)
	}
	used.Bytes, used.Count = used.Bytes+st.Size(), used.Count+1
	if err := s.quota.Check(used); err != nil || s.check == nil {
		return used, err
	}
	return used, s.check(workspace, used)
}

// Used implements [artifact.Store].
func (s *Store) Used(workspace string) artifact.Quota {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used[workspace]
}

// Restrict implements [artifact.Store].
func (s *Store) Restrict(check func(workspace string, would artifact.Quota) error) { s.check = check }

// checkEvery is the number of bytes written between two checks of the free space.
const checkEvery = 1 << 20

// spaceChecker is a writer that discards its input and fails when the disk is nearly full.
type spaceChecker struct {
	store *Store
	next  int // bytes until the next check
}

func (c *spaceChecker) Write(b []byte) (int, error) {
	if c.next -= len(b); c.next > 0 {
		return len(b), nil
	}
	c.next = checkEvery
	return len(b), c.store.checkSpace()
}

// checkSpace refuses if the disk is nearly full.
func (s *Store) checkSpace() error {
	if s.minFree < 0 {
		return nil
	}
	if free, err := freeSpace(s.dir); err == nil && free < s.minFree {
		return artifact.Full(fmt.Sprintf("%d KiB free, %d needed", free>>10, s.minFree>>10))
	}
	return nil
}
