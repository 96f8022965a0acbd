package workspace

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// StreamKind is the kind of the streams of workspaces, all of which are in the workspace default.
const StreamKind = "workspace"

// Limits bound what a workspace may use. A field that is 0 sets no bound beyond those of the server.
type Limits struct {
	OpenTasks     int64 `json:"open_tasks,omitempty" minimum:"0" doc:"Tasks that have not ended. 0 or absent: no limit."`
	EntriesPerDay int64 `json:"entries_per_day,omitempty" minimum:"0" doc:"Entries of the record from 00:00 to 24:00 UTC. 0 or absent: no limit."`
	ArtifactBytes int64 `json:"artifact_bytes,omitempty" minimum:"0" doc:"Bytes of all artifacts. 0 or absent: the limit of the server."`
	Agents        int64 `json:"agents,omitempty" minimum:"0" doc:"Registered agents. 0 or absent: no limit."`
}

// Limit is the name of a limit.
type Limit string

// The limits.
const (
	OpenTasks     Limit = "open_tasks"
	EntriesPerDay Limit = "entries_per_day"
	ArtifactBytes Limit = "artifact_bytes"
	Agents        Limit = "agents"
)

// words say what a limit counts.
var words = map[Limit]string{
	OpenTasks: "tasks that have not ended", EntriesPerDay: "entries in its record today (UTC)", ArtifactBytes: "bytes of artifacts", Agents: "agents",
}

// waits say what those who meet a limit can do without the admin.
var waits = map[Limit]string{
	OpenTasks: "wait until some have ended, or cancel those that nobody needs", EntriesPerDay: "try again after 00:00 UTC",
	ArtifactBytes: "put less; artifacts that nothing refers to are deleted after a while", Agents: "remove an agent that nobody needs",
}

// Of returns the value of a limit; 0: there is none.
func (l Limits) Of(name Limit) int64 {
	switch name {
	case OpenTasks:
		return l.OpenTasks
	case EntriesPerDay:
		return l.EntriesPerDay
	case ArtifactBytes:
		return l.ArtifactBytes
	case Agents:
		return l.Agents
	}
	return 0
}

// Check refuses (limit) that a workspace has so many of what a limit bounds.
func (s *State) Check(workspace string, name Limit, would int64) error {
	most := s.Limits.Of(name)
	if most == 0 || would <= most {
		return nil
	}
	return refusal.New(refusal.Limit, waits[name]+", or ask an admin of the workspace "+identity.DefaultWorkspace+" to "+help.To("raise the limit "+string(name), "workspace limit", workspace),
		"the workspace %s would have %d %s; its limit %s is %d", workspace, would, words[name], name, most).With("limit", string(name)).With("most", most)
}

// MayChange refuses (conflict) a change in a workspace that is archived, has moved, or is arriving.
func (s *State) MayChange(workspace string) error {
	switch {
	case s.ArchivedAt.IsZero():
		return nil
	case s.MovedTo != "":
		return refusal.New(refusal.Conflict, "call the server at "+s.MovedTo+", with the same token and the same idempotency key",
			"the workspace %s moved to %s: here it can be read, and nothing in it changes", workspace, s.MovedTo).With("moved_to", s.MovedTo)
	case s.IsArriving():
		return refusal.New(refusal.Conflict, "have an admin of the workspace "+identity.DefaultWorkspace+" import its file again, which goes on where it ended",
			"the workspace %s is on its way here: nothing in it is read or changed before it has arrived", workspace)
	}
	return refusal.New(refusal.Conflict, "have an admin of the workspace "+identity.DefaultWorkspace+" "+help.To("restore it", "workspace restore", workspace)+" first",
		"the workspace %s is archived (why: %q): it can be read, and nothing in it changes", workspace, s.Why)
}

// State is everything that is known about one workspace. The zero State is one that was never made. It is immutable.
type State struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Limits      Limits    `json:"limits,omitzero"`
	By          string    `json:"by,omitempty"` // the principal that made it
	CreatedAt   time.Time `json:"created_at,omitzero"`
	ArchivedBy  string    `json:"archived_by,omitempty"`
	ArchivedAt  time.Time `json:"archived_at,omitzero"` // zero: it is not archived
	Why         string    `json:"why,omitempty"`        // it is archived
	MovedTo     string    `json:"moved_to,omitempty"`   // the address of the server to which it moved; empty: it did not
	Sent        *Sent     `json:"sent,omitempty"`       // what moved there; nil: nothing did yet
	From        string    `json:"from,omitempty"`       // the name of the log from which it moved here; empty: it was made here
	Moves       string    `json:"moves,omitempty"`      // the root of the entries that move here
	Arrived     uint64    `json:"arrived,omitempty"`    // the position of the last of them; 0: not all are here
	Base        uint64    `json:"base,omitempty"`       // see [Sent]
}

// IsArriving reports whether the workspace moves here, and is not here yet.
func (s *State) IsArriving() bool { return s.From != "" && s.Arrived == 0 }

// HoldsStill reports whether nothing at all is written in the workspace, not even by the server itself: it moved, or is on its way.
func (s *State) HoldsStill() bool { return s.MovedTo != "" || s.IsArriving() }

// Exists reports whether the workspace of a name is there.
func (s *State) Exists(name string) bool {
	return name == identity.DefaultWorkspace || !s.CreatedAt.IsZero()
}

// CheckName refuses (invalid) what cannot name a workspace.
func CheckName(name string) error { return event.CheckName("the workspace's name", name) }

// CheckExists refuses (not_found) a workspace of a name that is not there.
func (s *State) CheckExists(name string) error {
	if s.Exists(name) {
		return nil
	}
	return NotFound(name)
}

// NotFound returns the refusal of a workspace that does not exist, or that the caller may not know of.
func NotFound(name string) error {
	return refusal.New(refusal.NotFound, "[list the workspaces](workspace list) to see which there are, or have an admin of the workspace "+identity.DefaultWorkspace+" "+help.To("make it", "workspace create", name),
		"there is no workspace %s", name)
}
