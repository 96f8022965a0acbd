package artifacts

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Put stores what r yields in the caller's workspace, and records who did. If declared is not empty the
// content must have that digest: anything else is refused (invalid) and leaves nothing. Putting the same again changes
// nothing, and replaces damaged content. Refusals of size (too_large), quota (limit) and room (unavailable) leave nothing
// either; r's errors are passed on.
func (as *Artifacts) Put(ctx context.Context, c caller.Caller, r io.Reader, declared artifact.Digest) (artifact.Info, error) {
	info, err := as.put(ctx, c, r, declared)
	if err != nil {
		return artifact.Info{}, as.access.Refused(ctx, c.Workspace, c.Actor(), "put-artifact", string(declared), err)
	}
	return info, nil
}

func (as *Artifacts) put(ctx context.Context, c caller.Caller, r io.Reader, declared artifact.Digest) (artifact.Info, error) {
	if err := c.May(identity.ActOwn, "put an artifact"); err != nil {
		return artifact.Info{}, err
	}
	if err := errors.Join(as.there(), c.CheckKey()); err != nil {
		return artifact.Info{}, err
	}
	if declared != "" {
		if err := declared.Check(); err != nil {
			return artifact.Info{}, err
		}
		r = exact{artifact.Verified(io.NopCloser(r), declared), declared}
	}
	done, err := as.busy.begin(c)
	if err != nil {
		return artifact.Info{}, err
	}
	defer done()
	info, err := as.store.Put(ctx, c.Workspace, r)
	if err != nil {
		return artifact.Info{}, err
	}
	return info, as.stored(ctx, c, info)
}

// exact refuses content that is not as declared, at its end.
type exact struct {
	io.Reader
	declared artifact.Digest
}

func (e exact) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	if errors.Is(err, artifact.ErrCorrupt) {
		err = refusal.New(refusal.Invalid, "declare the digest of what you send, and send it whole", "the content is not %s", e.declared)
	}
	return n, err
}

// stored records who put an artifact. Should that fail, nobody finds the artifact, and it is swept.
func (as *Artifacts) stored(ctx context.Context, c caller.Caller, info artifact.Info) error {
	request, err := c.Digest("put-artifact", info.Digest)
	if err != nil {
		return err
	}
	k := artifact.Key{Workspace: c.Workspace, Digest: info.Digest}
	_, err = as.kept.Do(ctx, c.Write(request), streamOf(k), func(h holding, _ time.Time) ([]artifact.Event, error) {
		if h.Kept && slices.Contains(h.By, c.String()) {
			return nil, nil
		}
		return []artifact.Event{artifact.Stored{Digest: info.Digest, Bytes: info.Size, By: c.String()}}, nil
	})
	return err
}
