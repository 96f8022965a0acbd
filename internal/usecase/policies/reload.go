package policies

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Reload brings the workspace's file, as it is now, into force. A bad file is refused (invalid) with all its problems, and
// the policy in force stays.
func (ps *Policies) Reload(ctx context.Context, c caller.Caller) (PolicyInForce, error) {
	p, err := ps.reload(ctx, c)
	if err != nil {
		return PolicyInForce{}, ps.access.Refused(ctx, c.Workspace, c.Actor(), "reload-policy", "", err)
	}
	return p, nil
}

func (ps *Policies) reload(ctx context.Context, c caller.Caller) (PolicyInForce, error) {
	if err := c.May(identity.ManageAgents, "reload the policy"); err != nil {
		return PolicyInForce{}, err
	}
	request, err := c.Digest("reload-policy", nil)
	if err != nil {
		return PolicyInForce{}, err
	}
	out, err := ps.store.latest(ctx, c.Workspace, func(now policy.State) (out stream.Outcome[policy.State], err error) {
		f, p, err := ps.store.file(c.Workspace)
		if err == nil && f.None {
			return out, refusal.New(refusal.NotFound, "write it, or start the server with --policy FILE", "workspace %s has no policy file", c.Workspace)
		}
		var missing policy.Problems
		if err == nil && now.Digest != p.Digest() { // else it is in force, even if somebody was removed since
			missing, err = ps.store.missing(ctx, c.Workspace, f.Name, p)
		}
		if err == nil {
			err = missing.Err()
		}
		ps.store.note(c.Workspace, err)
		if err != nil {
			return out, err
		}
		return ps.store.adopt(ctx, c, f, request, now)
	})
	if err != nil {
		return PolicyInForce{}, err
	}
	return inForce(*out.State, out.At), nil
}
