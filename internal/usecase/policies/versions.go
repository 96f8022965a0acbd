package policies

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// maxVersions is how many versions one answer has.
const maxVersions = 100

// Versions lists the policies that came into force, the newest first, without their texts: at most 100 of those before a version,
// or of all if that is 0.
func (ps *Policies) Versions(ctx context.Context, c caller.Caller, before int) ([]PolicyInForce, error) {
	if err := c.May(identity.ReadAny, "see the policies"); err != nil {
		return nil, ps.access.Refused(ctx, c.Workspace, c.Actor(), "list-policies", "", err)
	}
	var list []PolicyInForce
	var s policy.State
	err := stream.Each(ctx, ps.store.ledger, streamOf(c.Workspace), func(e ledger.Entry) error {
		events, err := ps.store.kind.Codec().DecodeAll(e.Events)
		if err != nil {
			return err
		}
		for _, ev := range events {
			s = policy.Fold(s, ev)
		}
		if before > 0 && s.Version >= before {
			return nil
		}
		v := inForce(s, e.Position)
		v.Text = ""
		if len(list) == maxVersions {
			list = list[1:]
		}
		list = append(list, v)
		return nil
	})
	slices.Reverse(list)
	return list, err
}
