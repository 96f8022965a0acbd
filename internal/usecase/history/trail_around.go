package history

import (
	"context"

	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// TrailAround is [History.Trail], which goes on after entries that cannot be read if the input says so. Its format counts for nothing.
func (h *History) TrailAround(ctx context.Context, c caller.Caller, in ExportInput) (*view.Trail, error) {
	t, err := h.subject(ctx, c, in)
	if task := in.Task; err != nil {
		return nil, h.access.Refused(ctx, c.Workspace, c.Actor(), "trail", task, err)
	}
	if err := h.access.Read(ctx, c.Workspace, c.Actor(), in.Task, "trail", ""); err != nil {
		return nil, err
	}
	return h.trail(ctx, c, t, in)
}
