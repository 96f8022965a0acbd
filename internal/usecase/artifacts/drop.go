package artifacts

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// Drop deletes artifacts of a workspace that nothing refers to any more, without waiting for the grace, and returns how many. One that is put
// or checked meanwhile stays. It is for the server, after their content was erased.
func (as *Artifacts) Drop(ctx context.Context, workspace string, digests []string) (int, error) {
	if as.store == nil || len(digests) == 0 {
		return 0, nil
	}
	before := as.now()
	last, err := as.ledger.Last(ctx)
	if err != nil {
		return 0, stream.Unavailable(err)
	}
	if err := as.views.Wait(ctx, last); err != nil {
		return 0, err
	}
	swept, err := as.store.Sweep(ctx, before, func(k artifact.Key) (bool, error) {
		if k.Workspace != workspace || !slices.Contains(digests, string(k.Digest)) {
			return true, nil
		}
		referred, _, err := as.views.IsReferred(ctx, workspace, string(k.Digest))
		if err != nil || referred {
			return true, err
		}
		return false, as.release(ctx, k)
	})
	return swept.Deleted, err
}
