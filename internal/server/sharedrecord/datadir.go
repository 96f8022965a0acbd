package sharedrecord

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// suffix ends the name of the file that names the record which a data directory follows; it begins with the kind.
const suffix = ".record"

// Followed returns the kind and the name of the shared record that a data directory follows; none if it does not.
func Followed(dir string) (kind Kind, id string, err error) {
	for _, kind := range Kinds {
		text, err := os.ReadFile(FollowFile(dir, kind)) //nolint:gosec // the operator's directory
		if !errors.Is(err, fs.ErrNotExist) {
			return kind, strings.TrimSpace(string(text)), err
		}
	}
	return None, "", nil
}

// FollowFile is the file in a data directory that names the record of a kind which it follows.
func FollowFile(dir string, kind Kind) string { return filepath.Join(dir, string(kind)+suffix) }

// CheckOwn refuses (conflict) a data directory whose record is shared. The hint is how to name where that is, and more, or instead if it is not empty.
func CheckOwn(dir, instead, more string) error {
	kind, id, err := Followed(dir)
	if err != nil || id == "" {
		return err
	}
	if instead == "" {
		instead = kind.Hint()
	}
	return refusal.New(refusal.Conflict, instead+more, "the record of %s is in %s", dir, kind)
}

// CheckFollows refuses (conflict) a data directory that follows another record than one of a kind and a name, or of any name if that is empty.
func CheckFollows(dir string, kind Kind, id string) error {
	was, name, err := Followed(dir)
	if err != nil || name == "" || was == kind && (id == "" || name == id) {
		return err
	}
	return refusal.New(refusal.Conflict, "check where the record is said to be, or use another directory, with --data-dir",
		"%s follows another record than that in %s", dir, kind)
}
