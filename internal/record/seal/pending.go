package seal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// pendingSuffix is added to the name of the key file for the list of workspaces whose erasures may be pending.
const pendingSuffix = ".pending"

// Begin notes, durably, that an erasure of a workspace may be pending.
func (s *Sealer) Begin(workspace string) error {
	list, err := s.Pending()
	if err != nil || slices.Contains(list, workspace) {
		return err
	}
	return s.note(append(list, workspace))
}

// End notes that none is.
func (s *Sealer) End(workspace string) error {
	list, err := s.Pending()
	if err != nil || !slices.Contains(list, workspace) {
		return err
	}
	return s.note(slices.DeleteFunc(list, func(w string) bool { return w == workspace }))
}

// Pending lists the workspaces that were noted.
func (s *Sealer) Pending() (list []string, err error) {
	b, err := os.ReadFile(s.keys.file.Name() + pendingSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	return list, err
}

// note replaces the list.
func (s *Sealer) note(list []string) error {
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	name := s.keys.file.Name() + pendingSuffix
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(os.Rename(name+".new", name), syncDir(filepath.Dir(name)))
}
