package workspaces

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ArchiveInput archives a workspace.
type ArchiveInput struct {
	Name string `json:"name,omitempty"`
	Why  string `json:"why" doc:"The record keeps it."`
}

// Archive ends changes in a workspace: it can be read, its timers stand still, and calls that would change something are refused.
func (ws *Workspaces) Archive(ctx context.Context, c caller.Caller, in ArchiveInput) (Workspace, error) {
	return ws.do(ctx, c, "archive-workspace", in.Name, in, workspace.Archive{By: c.Principal, Name: in.Name, Why: in.Why})
}
