package seal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/durable"
)

// pendingSuffix is added to the name of the key file for the list of what may be pending.
const pendingSuffix = ".pending"

// Scrub is the note that the files may still have something that was encrypted under keys which were destroyed. No stream and no workspace has this name.
const Scrub = "*"

// Begin notes, durably, what may be pending. The notes are changed by one caller at a time.
func (s *Sealer) Begin(names ...string) error {
	list, err := s.Pending()
	if err != nil {
		return err
	}
	was := len(list)
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) == was {
		return nil
	}
	return s.note(list)
}

// End notes that none is.
func (s *Sealer) End(names ...string) error {
	list, err := s.Pending()
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(n string) bool { return slices.Contains(names, n) })
	if len(rest) == len(list) {
		return nil
	}
	return s.note(rest)
}

// Pending lists what was noted.
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
	return errors.Join(os.Rename(name+".new", name), durable.Sync(filepath.Dir(name)))
}

// Moment is what was noted at some time.
type Moment struct {
	file  os.FileInfo // nil: nothing was ever noted
	quiet bool        // no key was being destroyed
}

// Still is the moment at which nothing was ever noted.
var Still = Moment{quiet: true}

// Moment forgets the keys in memory, and returns what is noted now. It is for a verifier that compares what was made of the content with the content.
func (s *Sealer) Moment() (Moment, error) {
	s.known.Purge()
	file, err := os.Stat(s.keys.file.Name() + pendingSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return Still, nil
	}
	if err != nil {
		return Moment{}, err
	}
	list, err := s.Pending() // perhaps of a later file, and then the next moment is another one
	return Moment{file, !slices.ContainsFunc(list, func(name string) bool { return name != Scrub })}, err
}

// Until reports whether no key was destroyed from a moment to another, nor what was made of its content changed: before the first key of an erasure is destroyed
// it is noted, and that it has ended after the views are built again.
func (m Moment) Until(now Moment) bool {
	if !m.quiet || !now.quiet || (m.file == nil) != (now.file == nil) {
		return false
	}
	return m.file == nil || os.SameFile(m.file, now.file) && m.file.ModTime().Equal(now.file.ModTime())
}
