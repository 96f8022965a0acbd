package artifacts

import (
	"context"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Check says which of the artifacts an envelope of the caller's may refer to: those that are there and that the caller
// may read, with their sizes filled in. The others are gaps; whether they are nowhere or not for the caller makes no
// difference. What is found is spared from sweeps for the grace, in which the envelope must be sealed. It refuses what
// is no digest (invalid) and more than an envelope holds (too_large).
func (as *Artifacts) Check(ctx context.Context, c caller.Caller, list []envelope.Artifact) (found []envelope.Artifact, gaps []envelope.Gap, err error) {
	if len(list) > envelope.MaxArtifacts {
		return nil, nil, refusal.In("content.artifacts", event.TooMany("artifacts", len(list), envelope.MaxArtifacts))
	}
	for _, a := range list {
		info, err := as.spare(ctx, c, artifact.Digest(a.Digest))
		switch {
		case err == nil:
			a.Bytes = int(info.Size)
			found = append(found, a)
		case refusal.CodeOf(err) == refusal.NotFound:
			gaps = append(gaps, envelope.Gap{Kind: envelope.PartArtifact, ID: a.Digest, Reason: envelope.GapNotFound})
		default:
			return nil, nil, refusal.In("content.artifacts", err)
		}
	}
	return found, gaps, nil
}

// spare keeps an artifact that the caller may read from being swept for a while.
func (as *Artifacts) spare(ctx context.Context, c caller.Caller, d artifact.Digest) (artifact.Info, error) {
	k, _, err := as.find(ctx, c, d)
	if err != nil {
		return artifact.Info{}, err
	}
	return as.store.Touch(ctx, k)
}
