package workspaces

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"
	"github.com/trapezehq/trapeze/internal/usecase/workspacestore"
)

// Workspaces is the use cases of workspaces. Its methods are safe for many goroutines.
type Workspaces struct {
	store  *workspacestore.Store
	views  view.Store
	tokens *tokens.Tokens
	files  artifact.Store // nil: this server keeps none
	access *access.Log
}

// New returns the use cases of the workspaces of a store.
func New(s *workspacestore.Store, v view.Store, t *tokens.Tokens, files artifact.Store, log *access.Log) *Workspaces {
	if files != nil {
		files.Restrict(func(name string, would artifact.Quota) error {
			state, err := s.State(context.Background(), name)
			if err != nil {
				return err
			}
			return state.Check(name, workspace.ArtifactBytes, would.Bytes)
		})
	}
	return &Workspaces{store: s, views: v, tokens: t, files: files, access: log}
}

// Usage is what a workspace uses of what its limits bound.
type Usage struct {
	OpenTasks     int64 `json:"open_tasks" doc:"Tasks that have not ended."`
	EntriesToday  int64 `json:"entries_today" doc:"Entries of the record since 00:00 UTC."`
	ArtifactBytes int64 `json:"artifact_bytes" doc:"Bytes of all artifacts."`
	Agents        int64 `json:"agents" doc:"Registered agents."`
}

// Workspace is a part of the server whose agents, tasks, files and people are apart from those of others.
type Workspace struct {
	Name        string           `json:"name"`
	Description string           `json:"description,omitempty"`
	Limits      workspace.Limits `json:"limits" doc:"A limit that is absent is not set."`
	Used        *Usage           `json:"used,omitempty" doc:"What it uses; where one workspace is shown, or a list is asked for it."`
	By          string           `json:"created_by,omitempty" doc:"The principal that made it. Absent for the workspace default, and for one that only tokens made, before workspaces were made by name."`
	Created     time.Time        `json:"created,omitzero"`
	Archived    time.Time        `json:"archived,omitzero" doc:"Since then nothing in it changes. Absent: it is not archived."`
	ArchivedBy  string           `json:"archived_by,omitempty"`
	Why         string           `json:"why,omitempty" doc:"Why it is archived."`
	MovedTo     string           `json:"moved_to,omitempty" doc:"Address of the server to which it moved: nothing in it changes here any more."`
	Arriving    bool             `json:"arriving,omitempty" doc:"It moves here, and not all of it is here: nothing in it is read or changed."`
	From        string           `json:"from,omitempty" doc:"Name of the log from which it moved here."`
	Token       *tokens.Token    `json:"token,omitempty" doc:"The first token, with its text: only in the answer that made it."`
	Position    ledger.Position  `json:"position,omitempty"`
}

// At returns the position up to which the answer is true.
func (w Workspace) At() ledger.Position { return w.Position }

func of(name string, s workspace.State, at ledger.Position) Workspace {
	return Workspace{
		Name: name, Description: s.Description, Limits: s.Limits, By: s.By, Created: s.CreatedAt, Archived: s.ArchivedAt, ArchivedBy: s.ArchivedBy, Why: s.Why, MovedTo: s.MovedTo, Arriving: s.IsArriving(), From: s.From, Position: at,
	}
}

// do lets the rules decide a command, and records it.
func (ws *Workspaces) do(ctx context.Context, c caller.Caller, verb, name string, in any, cmd workspace.Command) (Workspace, error) {
	out, err := ws.change(ctx, c, verb, name, in, cmd)
	if err != nil {
		return Workspace{}, ws.access.Refused(ctx, c.Workspace, c.Actor(), verb, name, err)
	}
	return of(name, *out.State, out.At), nil
}

func (ws *Workspaces) change(ctx context.Context, c caller.Caller, verb, name string, in any, cmd workspace.Command) (out stream.Outcome[workspace.State], err error) {
	if err := c.May(identity.ManageWorkspaces, "change workspaces"); err != nil {
		return out, err
	}
	if err := workspace.May(c.Principal, "change workspaces"); err != nil { // before anything is read
		return out, err
	}
	if err := workspace.CheckName(name); err != nil {
		return out, err
	}
	request, err := c.Digest(verb, in)
	if err != nil {
		return out, err
	}
	out, err = ws.store.Do(ctx, c.Write(request), workspacestore.StreamOf(name), func(s workspace.State, now time.Time) ([]workspace.Event, error) {
		return workspace.Decide(s, cmd, now)
	})
	if err == nil && !out.Repeat {
		ws.store.Keep(name, *out.State)
	}
	return out, err
}
