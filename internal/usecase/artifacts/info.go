package artifacts

import (
	"context"

	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Info says how large an artifact is that the caller may read. It reads nothing of it.
func (as *Artifacts) Info(ctx context.Context, c caller.Caller, d artifact.Digest) (artifact.Info, error) {
	r, info, _, err := as.open(ctx, c, d)
	if err != nil {
		return artifact.Info{}, as.access.Refused(ctx, c.Workspace, c.Actor(), "artifact-info", string(d), err)
	}
	return info, r.Close()
}
