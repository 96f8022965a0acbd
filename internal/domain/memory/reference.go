package memory

import (
	"strconv"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Reference is how an envelope names an item without holding it: which version it was when the envelope was sealed,
// and what that version's digest is. Version 0 without a digest means whatever is newest; such a reference asks, it
// is never sealed and grants nothing.
type Reference struct {
	ID      string `json:"id"`
	Version int    `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// Check refuses (invalid) what cannot be a reference.
func (r Reference) Check() error {
	if err := CheckID(r.ID); err != nil {
		return refusal.In("id", err)
	}
	if r.Version == 0 && r.Digest == "" || r.Version > 0 && validDigest(r.Digest) {
		return nil
	}
	return refusal.New(refusal.Invalid, "give version and digest as the envelope has them, or neither of them",
		"the reference to %s has version %d and digest %s", r.ID, r.Version, strconv.QuoteToASCII(refusal.Clip(r.Digest, 80)))
}

// Status is the state of the item and version that a reference names.
type Status string

// The statuses.
const (
	Current   Status = "current"   // it is still the newest version
	Changed   Status = "changed"   // there is a newer version
	Forgotten Status = "forgotten" // its content is no longer given out
	Missing   Status = "missing"   // there is no such item or version, or none with that digest
)

// Statuses lists every status.
func Statuses() []Status { return []Status{Current, Changed, Forgotten, Missing} }

// Resolve says what has become of a reference, and gives the newest version of the item: what a lazy reference
// yields. The Version is zero if the status is forgotten or missing. Whether somebody may read it is another
// question: see [Fetch].
func Resolve(s State, r Reference) (Version, Status) {
	sealed, ok := s.Version(r.Version)
	latest := s.Latest()
	if r.Version == 0 {
		sealed, ok = latest, s.Exists() && r.Digest == ""
	}
	switch {
	case !ok || s.ID != r.ID || r.Version != 0 && sealed.Digest != r.Digest:
		return Version{}, Missing
	case s.Forgotten():
		return Version{}, Forgotten
	case sealed.Number < latest.Number:
		return latest, Changed
	}
	return latest, Current
}

// Fetch is what a reader is given for a reference: the newest version if it may read the item, else the very version
// that an envelope of its grants it, with the status saying whether there is a newer one. What it may not read is
// missing to it.
func Fetch(s State, r Reader, ref Reference) (Version, Status) {
	v, status := Resolve(s, ref)
	switch {
	case status == Missing || MayRead(s, r):
		return v, status
	case !MayReadVersion(s, r, ref.Version):
		return Version{}, Missing
	case status == Changed:
		v, _ = s.Version(ref.Version)
	}
	return v, status
}
