package memory

import (
	"slices"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Scope says who an item is for.
type Scope string

// The scopes.
const (
	Private   Scope = "private"   // its author alone
	Task      Scope = "task"      // the owner of its task and its other participants
	Workspace Scope = "workspace" // everybody in the workspace
)

// Scopes lists every scope.
var Scopes = event.NewSet("a scope", Private, Task, Workspace)

// UnmarshalText implements encoding.TextUnmarshaler. It refuses (invalid) unknown scopes.
func (s *Scope) UnmarshalText(b []byte) error {
	if v := Scope(b); Scopes.Has(v) {
		*s = v
		return nil
	}
	return unknownScope(string(b))
}

func unknownScope(s string) error {
	return refusal.New(refusal.Invalid, "use "+event.OneOf(Scopes.Values()), "unknown scope %s", strconv.QuoteToASCII(refusal.Clip(s, 40)))
}

// Source says where an item came from; empty fields are unknown.
type Source struct {
	Agent   string `json:"agent,omitempty"`   // the agent that learned it, if it is not the author
	Task    string `json:"task,omitempty"`    // in the course of which task
	Handoff string `json:"handoff,omitempty"` // and of which of its handoffs
}

// Version is one text of an item. Versions are numbered from 1.
type Version struct {
	Number int       `json:"version"`
	Title  string    `json:"title,omitempty"`
	Text   string    `json:"text"`
	Salt   string    `json:"salt"`   // random, in hex; part of what is digested
	Digest string    `json:"digest"` // over the canonical JSON of salt, text and title
	By     string    `json:"by"`     // principal
	At     time.Time `json:"at"`
}

// State is the state of one item. The zero State is an item that was never stored. It is immutable:
// do not change the slices in it.
type State struct {
	ID           string    `json:"id"`
	Scope        Scope     `json:"scope"`
	Owner        string    `json:"owner"` // the author: the principal that stored it
	Source       Source    `json:"source,omitzero"`
	Task         string    `json:"task,omitempty"`         // what it belongs to; always there in scope task
	Conversation string    `json:"conversation,omitempty"` // what it was said in
	Tags         []string  `json:"tags,omitempty"`         // a set: sorted, without repeats
	Subject      string    `json:"subject,omitempty"`      // that it is about
	Importance   float64   `json:"importance"`             // 0 to 1
	Pinned       bool      `json:"pinned,omitempty"`       // see Pinning
	PinnedBy     string    `json:"pinned_by,omitempty"`    // the principal whose pin counts
	Versions     []Version `json:"versions"`               // oldest first; without title, text and salt once forgotten
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"` // of the newest change of any kind
	ForgottenAt  time.Time `json:"forgotten_at,omitzero"`
	ForgottenBy  string    `json:"forgotten_by,omitempty"`
}

// Exists reports whether the item was ever stored.
func (s State) Exists() bool { return s.ID != "" }

// Forgotten reports whether the item's content is no longer given out.
func (s State) Forgotten() bool { return !s.ForgottenAt.IsZero() }

// Latest is the newest version; the zero Version for an item that does not exist.
func (s State) Latest() Version {
	if len(s.Versions) == 0 {
		return Version{}
	}
	return s.Versions[len(s.Versions)-1]
}

// Version is the version with a number, if there is one.
func (s State) Version(n int) (Version, bool) {
	if n < 1 || n > len(s.Versions) {
		return Version{}, false
	}
	return s.Versions[n-1], true
}

// Has reports whether the item carries a tag.
func (s State) Has(tag string) bool {
	_, ok := slices.BinarySearch(s.Tags, tag)
	return ok
}

// bytes is how much text the item's versions have together.
func (s State) bytes() (n int) {
	for _, v := range s.Versions {
		n += len(v.Title) + len(v.Text)
	}
	return n
}
