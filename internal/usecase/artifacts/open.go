package artifacts

import (
	"context"
	"io"

	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Open is [Artifacts.Get] of a digest in text.
func (as *Artifacts) Open(ctx context.Context, c caller.Caller, digest string) (io.ReadCloser, artifact.Info, error) {
	return as.Get(ctx, c, artifact.Digest(digest))
}
