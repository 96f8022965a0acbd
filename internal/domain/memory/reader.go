package memory

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
)

// Reader is a principal and what its tasks let it read besides what its role does. The zero Reader may read nothing.
type Reader struct {
	identity.Principal
	// Tasks are those that the principal holds or takes part in now, by id.
	Tasks []string
	// Spans are the times of what it reads of those of these tasks of which it does not read everything.
	Spans map[string][]Span
	// Conversations are those, by id, that a task of theirs carries along; see package conversation.
	Conversations []string
	// Heard are the times of the turns that these let it read of the conversation for which the reader was made.
	Heard []Span
	// Since is the time from which on it reads turns, whatever lets it; zero bounds nothing.
	Since time.Time
	// RoleAside reports that the principal's role lets it read nothing here: what it wrote and what its tasks carry count.
	RoleAside bool
	// Granted are the references in the newest envelope of each task that the principal holds now, or is offered with
	// its content. They let it read those versions, and nothing else.
	Granted []Reference
}

// Span is a time in which something was written: after From and before Until; zero times bound nothing.
type Span struct{ From, Until time.Time }

// Covers reports whether what was begun and last written at these times belongs to the span.
func (s Span) Covers(begun, written time.Time) bool {
	return (s.From.IsZero() || begun.After(s.From)) && (s.Until.IsZero() || written.Before(s.Until))
}

// reads reports whether the reader takes part in a task in whose scope something was begun and last written at these times.
func (r Reader) reads(task string, begun, written time.Time) bool {
	spans, limited := r.Spans[task]
	return slices.Contains(r.Tasks, task) && (!limited || slices.ContainsFunc(spans, func(s Span) bool { return s.Covers(begun, written) }))
}

// ReadsAny reports whether the principal's role lets it read every item and every conversation.
func (r Reader) ReadsAny() bool { return !r.RoleAside && identity.May(r.Role, identity.ReadAny) }

// MayRead reports whether a reader may read an item, all versions of it. It says nothing about what is forgotten:
// then there is nothing left to read. The state must come from the reader's own workspace.
func MayRead(s State, r Reader) bool {
	switch {
	case !s.Exists() || r.IsZero():
		return false
	case r.ReadsAny() || r.String() == s.Owner || s.Scope == Workspace:
		return true
	case s.Scope == Task:
		return r.reads(s.Task, s.CreatedAt, s.UpdatedAt)
	}
	return false
}

// MayReadVersion reports whether a reader may read one version: because it may read the item, or because an envelope
// that it holds refers to that version.
func MayReadVersion(s State, r Reader, version int) bool {
	if MayRead(s, r) {
		return true
	}
	return s.Exists() && !r.IsZero() && slices.ContainsFunc(r.Granted, func(g Reference) bool {
		v, ok := s.Version(g.Version)
		return ok && g.ID == s.ID && g.Version == version && g.Digest == v.Digest
	})
}

// MayChange reports whether a reader may revise, pin, tag, weigh or forget an item: its author and operators may, and the server itself.
func MayChange(s State, r Reader) bool {
	return s.Exists() && !r.IsZero() && (r.IsOperator() || r.Role == identity.System || r.String() == s.Owner)
}
