package artifacts

import (
	"context"
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Sweep deletes what no envelope refers to and nobody has put or checked for the grace, in every workspace. It waits
// for the views to have everything that is recorded now, and ends with an error as soon as they turn out not to.
func (as *Artifacts) Sweep(ctx context.Context) (artifact.Swept, error) {
	if as.store == nil {
		return artifact.Swept{}, nil
	}
	last, err := as.ledger.Last(ctx)
	if err != nil {
		return artifact.Swept{}, err
	}
	if err := as.views.Wait(ctx, last); err != nil {
		return artifact.Swept{}, err
	}
	return as.store.Sweep(ctx, as.now().Add(-as.grace), func(k artifact.Key) (bool, error) {
		referred, at, err := as.views.IsReferred(ctx, k.Workspace, string(k.Digest))
		switch {
		case err != nil || referred:
			return referred, err
		case at < last: // they are being made again; an envelope since then would have had the artifact checked first
			return false, fmt.Errorf("the views have the record up to %d, not %d", at, last)
		}
		if err := as.release(ctx, k); refusal.CodeOf(err) == refusal.Conflict { // the workspace moves
			return true, nil
		} else if err != nil {
			return false, err
		}
		return false, nil
	})
}

// release records that an artifact goes.
func (as *Artifacts) release(ctx context.Context, k artifact.Key) error {
	w := caller.System(k.Workspace, "shelf").Write("")
	_, err := as.kept.Do(ctx, w, streamOf(k), func(h holding, _ time.Time) ([]artifact.Event, error) {
		if !h.Kept {
			return nil, nil // it said so before, or was never recorded
		}
		return []artifact.Event{artifact.Released{Digest: k.Digest}}, nil
	})
	return err
}
