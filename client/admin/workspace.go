package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// Limits bound what a workspace may use. A field that is 0 sets no bound beyond those of the server.
type Limits struct {
	OpenTasks     int64 `json:"open_tasks,omitempty"`      // tasks that have not ended
	EntriesPerDay int64 `json:"entries_per_day,omitempty"` // of the record, from 00:00 to 24:00 UTC
	ArtifactBytes int64 `json:"artifact_bytes,omitempty"`
	Agents        int64 `json:"agents,omitempty"` // that are registered
}

// Usage is what a workspace uses of what its limits bound.
type Usage struct {
	OpenTasks     int64 `json:"open_tasks"`
	EntriesToday  int64 `json:"entries_today"` // since 00:00 UTC
	ArtifactBytes int64 `json:"artifact_bytes"`
	Agents        int64 `json:"agents"`
}

// Workspace is a part of a server whose agents, tasks, files and people are apart from those of others.
type Workspace struct {
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Limits      Limits        `json:"limits"`
	Used        *Usage        `json:"used,omitempty"`       // where one workspace is shown, or a list is asked for it
	By          string        `json:"created_by,omitempty"` // empty: it is the workspace default, or older than workspaces that are made by name
	Created     time.Time     `json:"created,omitzero"`
	Archived    time.Time     `json:"archived,omitzero"` // zero: it is not archived
	ArchivedBy  string        `json:"archived_by,omitempty"`
	Why         string        `json:"why,omitempty"`      // it is archived
	MovedTo     string        `json:"moved_to,omitempty"` // the address of the server to which it moved
	Arriving    bool          `json:"arriving,omitempty"` // it moves here, and not all of it is here
	From        string        `json:"from,omitempty"`     // the name of the log from which it moved here
	Token       *client.Token `json:"token,omitempty"`    // the first one, with its text: in the answer that made the workspace
	Position    uint64        `json:"position,omitempty"`
}

// WorkspaceInput makes a workspace.
type WorkspaceInput struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Limits      Limits      `json:"limits,omitzero"`
	Role        client.Role `json:"role,omitempty"`   // of the bearer of the first token: admin, which is the default, or operator
	Bearer      string      `json:"bearer,omitempty"` // name of the bearer; empty: the caller's own
}

// LimitsInput changes limits of a workspace: those that are not nil; 0 is none.
type LimitsInput struct {
	OpenTasks     *int64 `json:"open_tasks,omitempty"`
	EntriesPerDay *int64 `json:"entries_per_day,omitempty"`
	ArtifactBytes *int64 `json:"artifact_bytes,omitempty"`
	Agents        *int64 `json:"agents,omitempty"`
}

// ArchiveInput archives a workspace.
type ArchiveInput struct {
	Why string `json:"why"` // the record keeps it
}

// WorkspaceList is one page of a list of workspaces.
type WorkspaceList struct {
	Workspaces []Workspace `json:"workspaces"`
	Next       string      `json:"next,omitempty"`
	Position   uint64      `json:"position"`
}

// WorkspaceOptions select a page of the workspaces.
type WorkspaceOptions struct {
	Limit int    // 0 means 50
	After string // Next of the previous page
	Used  bool   // with what each uses
}

// CreateWorkspace makes a workspace, and its first token, whose text is in this answer and never again. It and the other changes are for admins of the
// workspace default.
func (c Client) CreateWorkspace(ctx context.Context, in WorkspaceInput) (Workspace, error) {
	return call[Workspace](ctx, c, http.MethodPost, nil, in, "workspaces")
}

// Workspaces lists one page of the workspaces, by name: all for admins of the workspace default, their own for others.
func (c Client) Workspaces(ctx context.Context, o WorkspaceOptions) (WorkspaceList, error) {
	q := wire.Query{}
	q.Number("limit", max(o.Limit, 0))
	q.Text("after", o.After)
	q.Flag("used", o.Used)
	return call[WorkspaceList](ctx, c, http.MethodGet, q, nil, "workspaces")
}

// Workspace shows a workspace, and what it uses.
func (c Client) Workspace(ctx context.Context, name string) (Workspace, error) {
	return call[Workspace](ctx, c, http.MethodGet, nil, nil, "workspaces", name)
}

// SetLimits changes the limits of a workspace, from the next call on.
func (c Client) SetLimits(ctx context.Context, name string, in LimitsInput) (Workspace, error) {
	return call[Workspace](ctx, c, http.MethodPost, nil, in, "workspaces", name, "limits")
}

// ArchiveWorkspace ends changes in a workspace: it can be read, and its timers stand still.
func (c Client) ArchiveWorkspace(ctx context.Context, name string, in ArchiveInput) (Workspace, error) {
	return call[Workspace](ctx, c, http.MethodPost, nil, in, "workspaces", name, "archive")
}

// RestoreWorkspace allows changes in an archived workspace again.
func (c Client) RestoreWorkspace(ctx context.Context, name string) (Workspace, error) {
	return call[Workspace](ctx, c, http.MethodPost, nil, nil, "workspaces", name, "restore")
}
