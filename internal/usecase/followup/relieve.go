package followup

import (
	"context"
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Relieve moves offers away from an agent that holds, and is offered, more than it may. It is for an entry of the record
// that made it more. Offers that the agent has seen stay: it is about to answer.
func (u *FollowUp) Relieve(ctx context.Context, workspace, agent string, e ledger.Entry) error {
	known, err := u.agents.Known(ctx, workspace, agent, false)
	if err != nil || !known.Exists() || known.Spec.MaxTasks == 0 {
		return err
	}
	last, err := u.positions.Last(ctx) // what was shed before counts
	if err == nil {
		err = u.positions.Wait(ctx, last)
	}
	if err != nil {
		return err
	}
	held, err := u.views.Held(ctx, workspace, agent)
	if err != nil {
		return stream.Unavailable(err)
	}
	offers, err := u.routes.OffersTo(ctx, workspace, agent)
	if err != nil {
		return err
	}
	over := held + len(offers) - known.Spec.MaxTasks
	offers = slices.DeleteFunc(offers, func(i view.Item) bool { return i.Seen })
	c := caller.System(workspace, "courier", e.Actor)
	why := fmt.Sprintf("%s holds and is offered more than its %d tasks", agent, known.Spec.MaxTasks)
	peers := u.routes.NewPeers(workspace, known)
	for _, o := range offers[:min(max(over, 0), len(offers), handoffs.MaxRelief)] {
		out, err := u.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, o.Task), u.handoffs.Shedding(ctx, c, o, agent, why, peers))
		if err := caller.Tolerate(err); err != nil {
			return err
		}
		handoffs.Count(peers, out)
	}
	return nil
}
