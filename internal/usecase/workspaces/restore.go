package workspaces

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Restore allows changes in an archived workspace again. Its timers go on: what became due meanwhile happens at once.
func (ws *Workspaces) Restore(ctx context.Context, c caller.Caller, name string) (Workspace, error) {
	return ws.do(ctx, c, "restore-workspace", name, name, workspace.Restore{By: c.Principal, Name: name})
}
