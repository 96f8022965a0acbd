package conversation

import (
	"slices"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/memory"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// Role is what a speaker is in a conversation.
type Role string

// The roles.
const (
	User      Role = "user"      // the person or program that wants something
	Assistant Role = "assistant" // the agent
	System    Role = "system"    // instructions
	Tool      Role = "tool"      // what a tool said
)

// Valid reports whether r is a known role.
func (r Role) Valid() bool { return r == User || r == Assistant || r == System || r == Tool }

// UnmarshalText implements encoding.TextUnmarshaler. It refuses (invalid) unknown roles.
func (r *Role) UnmarshalText(b []byte) error {
	if v := Role(b); v.Valid() {
		*r = v
		return nil
	}
	return unknownRole(string(b))
}

func unknownRole(s string) error {
	return refusal.New(refusal.Invalid, `use "user", "assistant", "system" or "tool"`,
		"unknown role %s", strconv.QuoteToASCII(refusal.Clip(s, 40)))
}

// Turn is something that was said.
type Turn struct {
	N       int       `json:"n"`     // from 1
	Agent   string    `json:"agent"` // in whose session it was said, whatever the role; by name
	Role    Role      `json:"role"`
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
	Task    string    `json:"task,omitempty"`    // in the course of which task
	Handoff string    `json:"handoff,omitempty"` // and of which of its handoffs
	By      string    `json:"by"`                // the principal that logged it
}

// State is everything that is known about one conversation. The zero State is one that has not begun. It is
// immutable: do not change the slices in it.
type State struct {
	ID        string
	Agents    []string // those who took part, in order of their first turn
	Tasks     []string // those that turns belong to, likewise
	Handoffs  []string // likewise
	First     Turn     // the first turn
	Request   Turn     // the first turn of a user; the first of all if there is none
	Bytes     int      // of all texts
	UpdatedAt time.Time
	newest    *node
}

// node is a turn and what was said before it. Many states share the nodes of their past.
type node struct {
	turn   Turn
	count  int // of turns up to this one
	before *node
}

// Exists reports whether the conversation has begun.
func (s State) Exists() bool { return s.newest != nil }

// Len is the number of turns.
func (s State) Len() int {
	if s.newest == nil {
		return 0
	}
	return s.newest.count
}

// History is the last turns, oldest first, at most limit of them; all for a limit below 1. The caller owns the slice.
func (s State) History(limit int) []Turn {
	if limit < 1 || limit > s.Len() {
		limit = s.Len()
	}
	out := make([]Turn, 0, limit)
	for n := s.newest; n != nil && len(out) < limit; n = n.before {
		out = append(out, n.turn)
	}
	slices.Reverse(out)
	return out
}

// MayRead reports whether a reader may read a conversation, and add to it if its role acts at all: it has spoken in
// it, or holds one of its tasks. The state must come from the reader's own workspace.
func MayRead(s State, r memory.Reader) bool {
	if !s.Exists() || r.Principal == "" {
		return false
	}
	return r.ReadsAny || takesPart(s, r)
}

func takesPart(s State, r memory.Reader) bool {
	return slices.ContainsFunc(s.Agents, func(a string) bool { return "agent/"+a == r.Principal }) ||
		slices.ContainsFunc(s.Tasks, func(t string) bool { return slices.Contains(r.Tasks, t) })
}
