package policies

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Load brings a workspace's file into force when the server starts. A bad file is an error, and what is recorded stays in
// force; so it does if targets of the file do not exist. Where nothing is recorded, a file whose targets do not exist yet
// comes into force, and they are returned to be told.
func (ps *Policies) Load(ctx context.Context, workspace string) (policy.Problems, error) {
	missing, err := ps.load(ctx, workspace)
	ps.store.note(workspace, err)
	if _, unread := ps.store.Policy(ctx, workspace); err == nil { // from now on what is in force is in memory, whatever the file is like
		err = unread
	}
	return missing, err
}

func (ps *Policies) load(ctx context.Context, workspace string) (missing policy.Problems, err error) {
	_, err = ps.store.latest(ctx, workspace, func(now policy.State) (out stream.Outcome[policy.State], err error) {
		f, p, err := ps.store.file(workspace)
		if err != nil || f.None || now.Digest == p.Digest() {
			return out, err
		}
		missing, err = ps.store.missing(ctx, workspace, f.Name, p)
		if err == nil && now.Exists() {
			err = missing.Err()
		}
		if err != nil {
			missing = nil
			return out, err
		}
		return ps.store.adopt(ctx, caller.System(workspace, "server"), f, "", now)
	})
	return missing, err
}
